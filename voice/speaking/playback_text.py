"""Which characters of a say's written text a stretch of its sound carries.

Owns the map between ms of a say's sound and offsets of its written text: the engine's word times
where it gives them, else in proportion inside a sentence, held back a little. When sound was
heard is ``playback``; what is spoken for what is written is ``wording``. Pure.
"""

import re
from dataclasses import dataclass
from typing import Final

from voice.speaking.ports import WordTime
from voice.speaking.wording import Spoken

HOLD_BACK_MS: Final = 120
"""Taken off a position that is only proportional, since words are not all equally long."""
GUESSED_CHAR_MS: Final = 65
"""Length of a spoken character while the sound of its chunk is still coming."""

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(
    rf"[{_CJK}][^\w\s]*|(?:(?![{_CJK}—–…])\S)*[^\W_](?:(?![{_CJK}—–…])\S)*[—–…]*"
)


@dataclass(slots=True)
class ScriptChunk:
    """One chunk of a say: its place in the written text and in the sound."""

    offset: int
    spoken: Spoken
    start_ms: float = 0.0
    """Where its sound begins in the say's sound."""
    length_ms: float = 0.0
    """Sound of it so far."""
    whole: bool = False
    """All its sound has come."""
    words: tuple[WordTime, ...] = ()

    @property
    def written_end(self) -> int:
        """End of its written text in the say's."""
        return self.offset + self.spoken.written_length

    def spoken_chars_at(self, ms: float, hold_back_ms: float) -> int:
        """How many spoken characters ``ms`` of its sound carry."""
        if self.whole and ms >= self.length_ms:
            return len(self.spoken.text)
        if self.words:
            said = [w.end_char for w in self.words if w.end_ms <= ms]
            return max(said, default=0)
        total = self._total_ms()
        if total <= 0:
            return 0
        share = max(0.0, min(1.0, (ms - hold_back_ms) / total))
        return int(len(self.spoken.text) * share)

    def word_start_ms(self, ms: float) -> float:
        """Where the word that sounds at ``ms`` begins, in ms of the chunk's sound."""
        if self.words:
            return float(max((w.end_ms for w in self.words if w.end_ms <= ms), default=0))
        total = self._total_ms()
        text = self.spoken.text
        if total <= 0 or not text:
            return 0.0
        at = int(len(text) * max(0.0, min(1.0, ms / total)))
        start = text.rfind(" ", 0, at) + 1
        return min(ms, start * total / len(text))

    def _total_ms(self) -> float:
        if self.whole:
            return self.length_ms
        return max(self.length_ms, float(len(self.spoken.text) * GUESSED_CHAR_MS))


class Script:
    """A say's written text, chunk by chunk, and how far its sound has come."""

    def __init__(self) -> None:
        """Begin with no text and no sound."""
        self.written = ""
        self.ended = False
        """No more text follows."""
        self.sound_ms = 0.0
        """Sound there is so far."""
        self.sound_whole = False
        """All sound of all text has come."""
        self.chunks: list[ScriptChunk] = []
        """The chunks that are spoken."""

    def add_text(self, text: str) -> None:
        """Take the next piece of written text."""
        self.written += text

    def add_chunk(self, chunk: ScriptChunk) -> int:
        """Take the next chunk that is spoken; give its index."""
        self.chunks.append(chunk)
        return len(self.chunks) - 1

    def add_sound(self, index: int, ms: float, words: tuple[WordTime, ...], *, last: bool) -> None:
        """Count sound of the chunk of that index, which follows all sound before it."""
        chunk = self.chunks[index]
        for earlier in self.chunks[max(0, index - 1) : index]:
            earlier.whole = True
        if chunk.length_ms == 0.0:
            chunk.start_ms = self.sound_ms
        chunk.length_ms += ms
        chunk.words += words
        chunk.whole = chunk.whole or last
        self.sound_ms += ms

    def add_tail(self, ms: float) -> None:
        """All sound is here; the last of it, ``ms``, belongs to no chunk."""
        self.sound_ms += ms
        self.sound_whole = True
        for chunk in self.chunks:
            chunk.whole = True

    def heard_chars(self, ms: float) -> int:
        """Characters of the written text whose words are heard to their end after ``ms``."""
        if self.is_whole_at(ms):
            return len(self.written)
        for chunk in reversed(self.chunks):
            if chunk.length_ms > 0.0 and chunk.start_ms < ms:
                return self._chars_in(chunk, ms - chunk.start_ms)
        return 0

    def is_whole_at(self, ms: float) -> bool:
        """Whether everything there is to hear is heard after ``ms``."""
        return self.ended and self.sound_whole and ms >= self.sound_ms

    def word_start(self, ms: float) -> tuple[float, bool]:
        """Where the word that sounds at ``ms`` begins, and whether that is known or a guess.

        Outside of all chunks, and at the start of one, that is ``ms`` itself.
        """
        for chunk in reversed(self.chunks):
            if chunk.length_ms > 0.0 and chunk.start_ms <= ms:
                if chunk.whole and ms >= chunk.start_ms + chunk.length_ms:
                    return ms, True
                start = chunk.word_start_ms(ms - chunk.start_ms)
                return chunk.start_ms + start, bool(chunk.words) or start == 0.0
        return ms, True

    def _chars_in(self, chunk: ScriptChunk, ms: float) -> int:
        spoken = chunk.spoken_chars_at(ms, HOLD_BACK_MS)
        said = chunk.offset + chunk.spoken.written_at(spoken)
        if spoken >= len(chunk.spoken.text):
            end = chunk.written_end
            text = self.written[chunk.offset : end]
            return chunk.offset + len(text.rstrip())
        heard = self._before(chunk)
        for word in _WORD.finditer(self.written, chunk.offset, chunk.written_end):
            if _last_letter_end(word) > said:
                break
            heard = word.end()
        return heard

    def _before(self, chunk: ScriptChunk) -> int:
        """What was heard once all sound before the chunk was."""
        earlier = self.written[: chunk.offset]
        return len(earlier.rstrip()) if chunk is not self.chunks[0] else 0


def _last_letter_end(word: "re.Match[str]") -> int:
    """End of the last letter or digit of a word: marks after it are not waited for."""
    text = word.group()
    for index in range(len(text) - 1, -1, -1):
        if text[index].isalnum():
            return word.start() + index + 1
    return word.end()
