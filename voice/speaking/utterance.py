"""One say from its written text to its sound.

Owns the say's chunker, wording, script and sound buffer, and its place on the way to the caller.
The order of says and the feeding is ``mouth``; the engine's stream is ``synthesis``.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from voice.audio.format import AudioFormat
from voice.speaking.chunks import Chunk, SentenceChunker
from voice.speaking.playback_text import Script, ScriptChunk
from voice.speaking.ports import SpokenPiece
from voice.speaking.say_sound import SaySound
from voice.speaking.wording import say_as


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk that waits for the engine."""

    index: int
    text: str


_PAUSE_MS: Final = 250
"""A model's words come faster than this; what it has written by then it means for now."""


class Utterance:
    """A say (or a line of the voice plane's own, with a negative id)."""

    __slots__ = (
        "_boundary",
        "_chunker",
        "_quiet_since_ms",
        "allowed",
        "cause",
        "code_dropped",
        "end_stream_ms",
        "fade",
        "failed",
        "feed_ms",
        "first_stream_ms",
        "language",
        "ready",
        "resume_ms",
        "say",
        "script",
        "settled",
        "sound",
        "started_ms",
        "turn",
        "waiting",
        "whole_chunks",
    )

    def __init__(
        self, say: int, turn: int, language: str, fmt: AudioFormat, engine_rate_hz: int
    ) -> None:
        """Begin without text."""
        self.say = say
        self.turn = turn
        self.language = language
        self.script = Script()
        self.sound = SaySound(fmt, engine_rate_hz)
        self.waiting: deque[ChunkText] = deque()
        """Chunks not yet given to the engine."""
        self.whole_chunks = 0
        """Chunks of which all sound has come."""
        self.allowed = False
        self.ready = False
        """Some sound has come, and the floor knows."""
        self.failed = False
        self.cause = ""
        self.settled = False
        self.feed_ms = 0
        """Position in the sound of the next frame to send."""
        self.resume_ms: int | None = None
        """What was heard when the rest was taken back; None while nothing was."""
        self.fade = False
        self.first_stream_ms: int | None = None
        """Stream offset of its first frame."""
        self.end_stream_ms: int | None = None
        """Stream offset of its end, once all of it is sent."""
        self.started_ms: int | None = None
        self.code_dropped = 0
        self._boundary = 0
        self._chunker = SentenceChunker()
        self._quiet_since_ms: float | None = None
        """When its text last grew, while a sentence may still be waiting for more."""

    def add_text(self, text: str, now_ms: float) -> None:
        """Take the next piece of written text."""
        if self.script.ended:
            return
        self._quiet_since_ms = now_ms
        self.script.add_text(text)
        for chunk in self._chunker.push(text):
            self._add(chunk)

    def end_text(self) -> None:
        """No more text follows."""
        if self.script.ended:
            return
        for chunk in self._chunker.flush():
            self._add(chunk)
        self.script.ended = True

    def has_paused(self, now_ms: float) -> bool:
        """Take a sentence that seems whole, once no text has come for a while; True if it did."""
        since = self._quiet_since_ms
        if since is None or now_ms - since < _PAUSE_MS:
            return False
        self._quiet_since_ms = None
        chunks = [] if self.script.ended else self._chunker.pause()
        for chunk in chunks:
            self._add(chunk)
        return bool(chunks)

    @property
    def is_empty(self) -> bool:
        """Whether its text is over and has nothing to say."""
        return self.script.ended and not self.script.chunks

    @property
    def ahead_ms(self) -> float:
        """Sound that waits to be sent."""
        return self.sound.length_ms - self.feed_ms

    def add_piece(self, piece: SpokenPiece) -> None:
        """Take sound from the engine, whatever chunk it says it belongs to."""
        last = len(self.script.chunks) - len(self.waiting) - 1
        index = min(max(self.whole_chunks, piece.chunk), last)
        self.whole_chunks = max(self.whole_chunks, index)
        ms = self.sound.add(piece.samples)
        self.script.add_sound(index, ms, piece.words, last=piece.last)
        if piece.last:
            self.whole_chunks = index + 1

    def finish_sound(self) -> None:
        """All sound of all text has come."""
        self.script.add_tail(self.sound.finish())

    def fail(self, cause: str) -> None:
        """No more sound comes; what has come is still played."""
        if not self.failed and not self.sound.whole:
            self.failed = True
            self.cause = cause
            self.waiting.clear()
            self.sound.finish()

    def passed_boundary(self) -> bool:
        """Whether the feeding position has just passed the end of a chunk."""
        passed = False
        chunks = self.script.chunks
        while self._boundary < len(chunks):
            chunk = chunks[self._boundary]
            if not chunk.whole or chunk.start_ms + chunk.length_ms > self.feed_ms:
                break
            self._boundary += 1
            passed = True
        return passed

    def go_back(self, heard_ms: int) -> None:
        """Take back what was sent: feeding will go on from what was heard."""
        if self.sound.whole and heard_ms >= self.sound.length_ms:
            return
        self.resume_ms = heard_ms
        self.end_stream_ms = None
        if heard_ms == 0:
            self.first_stream_ms = None

    def resume(self) -> None:
        """Set the feeding position to the start of the word that was cut."""
        heard = self.resume_ms
        if heard is None:
            return
        self.resume_ms = None
        start, exact = self.script.word_start(heard)
        at = int(start) if exact else self.sound.quiet_near(start)
        self.feed_ms = max(0, min(at, heard))
        self.fade = self.feed_ms > 0
        self._boundary = 0
        self.passed_boundary()

    def _add(self, chunk: Chunk) -> None:
        if not chunk.spoken:
            self.code_dropped += 1
            return
        spoken = say_as(chunk.text, self.language)
        if spoken.text:
            index = self.script.add_chunk(ScriptChunk(chunk.offset, spoken))
            self.waiting.append(ChunkText(index, spoken.text))
