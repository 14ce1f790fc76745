"""Keys, typed texts and taps: inputs that need no recognizing.

Owns what they interrupt and what becomes of words said before them. Which keys make one input is
``keys``'.
"""

from typing import Final

from voice.floor.actions import DropTranscript
from voice.floor.events import ButtonTapped, KeyPressed, TextTyped
from voice.floor.keys import key_of
from voice.floor.parts import Parts
from voice.floor.taking import Taking
from voice.floor.turns import Decision, Sound, decide

_MOST_KEPT: Final = 64


class Given:
    """Inputs other than speech."""

    __slots__ = ("_p", "_take")

    def __init__(self, parts: Parts, taking: Taking) -> None:
        self._p = parts
        self._take = taking

    def take(
        self, event: KeyPressed | TextTyped | ButtonTapped, given_ms: int | None = None
    ) -> None:
        """Take an input: interrupt what runs, or keep it behind a protected line.

        Args:
            event: The input.
            given_ms: When it was given, if that was earlier.
        """
        p = self._p
        given_ms = p.step.now if given_ms is None else given_ms
        match event:
            case KeyPressed():
                text = key_of(event.key)
            case TextTyped():
                text = event.text if event.text.strip() else None
            case ButtonTapped():
                text = event.payload if event.payload.strip() else None
        if text is None or not p.ready:
            p.step.refuse(type(event).__name__)
            return
        decision = decide(p.state, Sound.KEY)
        if decision is Decision.KEEP:
            if len(p.kept) < _MOST_KEPT:
                p.kept.append((event, given_ms))
            return
        is_key = isinstance(event, KeyPressed)
        if is_key:
            p.step.record("key", "pressed", text)
        p.silence.caller_acted()
        if decision is Decision.INTERRUPT:
            p.step.record("commit", "key" if is_key else "text")
            self._take.stop("key" if is_key else "text", "key" if is_key else "text")
        self._words_give_way("key_instead" if is_key else "text_instead")
        match event:
            case KeyPressed():
                done = p.keys.press(text, p.listen.keys)
                if done is None:
                    p.gate.take()
                else:
                    self._take.start_given("keys", done, given_ms)
            case TextTyped() | ButtonTapped():
                digits = p.keys.abandon()
                if digits:
                    p.step.record("suppressed", "text_instead", digits)
                kind = "text" if isinstance(event, TextTyped) else "tap"
                self._take.start_given(kind, text, given_ms)

    def keys_timed_out(self) -> None:
        """The time for another key is over: what came is the input."""
        digits = self._p.keys.timed_out()
        if digits:
            self._take.stop("key", "key")
            self._take.start_given("keys", digits, self._p.step.now)

    def _words_give_way(self, reason: str) -> None:
        """Words said before a key or a text answer nothing any more: the question is closed."""
        p = self._p
        text = p.caller.utterance.text
        if text:
            p.step.record("suppressed", reason, text)
        p.caller.use_up(p.step.now)
        p.step.emit(DropTranscript(p.step.now))
        p.step.disarm("endpoint")
        if p.caller.stretch is not None:
            p.caller.stretch.distrusted = True
