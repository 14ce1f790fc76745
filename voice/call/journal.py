"""What a call tells its watchers, and the words behind each say.

Owns the writing of ``CallEvent``s (page, report, log, metrics) and the texts of says until they
settle, so that a settled say can be shown as it was heard. Decides nothing.
"""

import logging
from collections.abc import Callable
from typing import Final

from runtime.agent import Fields, SaySettled
from voice.audio.format import AudioFormat
from voice.call.events import CallEvent
from voice.call.ports import Outbound
from voice.floor.events import FloorEvent, SayStarted, Transcribed, TranscriberFailed
from voice.wire.events import WireProtocol

_log = logging.getLogger(__name__)

_MOST_TEXTS: Final = 256
"""Says whose text is kept at once; far more than can be open."""


class Journal:
    """One call's events, in order."""

    def __init__(
        self,
        call_id: int,
        protocol: WireProtocol,
        out: Outbound,
        clock: Callable[[], int],
        on_event: Callable[[CallEvent], None] | None,
    ) -> None:
        """Write to ``on_event`` and, where the protocol shows events, to the client."""
        self._call_id = call_id
        self._protocol = protocol
        self._out = out
        self._clock = clock
        self._on_event = on_event
        self._last_ms = 0
        self._texts: dict[int, list[str]] = {}

    def write(self, name: str, fields: Fields = (), at_ms: int | None = None) -> None:
        """Write one event, now or (for what the runtime reports) at its own time."""
        # The agent plane's clock may be some ms behind: what came later is not told as earlier.
        t_ms = self._last_ms = max(self._last_ms, self._clock() if at_ms is None else at_ms)
        if self._on_event is not None:
            self._on_event(CallEvent(self._call_id, t_ms, name, fields))
        message = self._protocol.event(name, {"t_ms": t_ms, **dict(fields)})
        if message is not None:
            self._out.control(message)

    def call_started(self, channel: str, fmt: AudioFormat) -> None:
        """The client's first message has come."""
        _log.info("a call started", extra={"call": self._call_id, "channel": channel})
        self.write(
            "call_started",
            (
                ("channel", channel),
                ("encoding", fmt.encoding.value),
                ("rate_hz", fmt.rate_hz),
            ),
        )

    def problem(self, code: str, detail: str) -> None:
        """Something could not be used, or failed."""
        self.write("problem", (("code", code), ("detail", detail)))

    def noticed(self, fact: FloorEvent) -> None:
        """Write what of a fact the floor is about to take is of interest outside."""
        match fact:
            case Transcribed() if fact.text:
                self.caller_said(fact)
            case SayStarted(say):
                self.write("say_started", (("say", say),))
            case TranscriberFailed(cause):
                self.problem("stt_failed", cause)
            case _:
                pass

    def caller_said(self, heard: Transcribed) -> None:
        """The STT has words for a part of the caller's audio."""
        self.write(
            "caller_said",
            (
                ("text", heard.text),
                ("final", heard.final),
                ("from_ms", heard.audio_start_ms),
                ("to_ms", heard.audio_end_ms),
            ),
        )

    def caller_typed(self, text: str) -> None:
        """The caller wrote instead of speaking."""
        self.write("caller_said", (("text", text), ("final", True), ("by", "text")))

    def call_ended(self, cause: str) -> None:
        """The call is over."""
        lasted_s = round(self._clock() / 1000, 1)
        _log.info(
            "a call ended", extra={"call": self._call_id, "cause": cause, "lasted_s": lasted_s}
        )
        self.write("call_ended", (("cause", cause),))

    def say_opened(self, say: int, text: str = "") -> None:
        """Remember a say's text from here on."""
        self._texts[say] = [text]
        while len(self._texts) > _MOST_TEXTS:
            self._texts.pop(next(iter(self._texts)))

    def say_text(self, say: int, text: str) -> None:
        """Add to a say's text."""
        if say in self._texts:
            self._texts[say].append(text)

    def say_written(self, say: int) -> None:
        """The text of a say is complete; nothing of it need have been heard yet."""
        self._said(say, heard_chars=0, complete=False, state="written")

    def say_settled(self, settled: SaySettled) -> None:
        """A say reached its outcome."""
        self.write(
            "say_settled",
            (
                ("say", settled.say),
                ("turn", settled.turn),
                ("outcome", settled.outcome),
                ("heard_chars", settled.heard_chars),
                ("started_ms", settled.started_ms),
                ("ended_ms", settled.ended_ms),
            ),
        )
        complete = settled.outcome == "heard"
        self._said(settled.say, settled.heard_chars, complete=complete, state=settled.outcome)
        self._texts.pop(settled.say, None)

    def _said(self, say: int, heard_chars: int, *, complete: bool, state: str) -> None:
        text = "".join(self._texts.get(say, ()))
        if text:
            self.write(
                "agent_said",
                (
                    ("say", say),
                    ("text", text),
                    ("heard_chars", heard_chars),
                    ("complete", complete),
                    ("state", state),
                ),
            )
