"""The browser of a scenario's caller: ``WebPhone`` with a language, and with buttons to tap.

Owns only what it adds. A tap travels like typed text, as a ``Payload``, so that the far end needs
no third way of giving input.
"""

import json

from voice.audio.format import AudioFormat
from voice.replay.phones import WebPhone

__all__ = ["Payload", "ScenarioPhone"]


class Payload(str):
    """What a tapped button carries, where typed text may stand."""

    __slots__ = ()


class ScenarioPhone(WebPhone):
    """A page that says its language and has buttons."""

    def __init__(
        self, fmt: AudioFormat, metadata: tuple[tuple[str, str], ...], language: str | None
    ) -> None:
        """Ask for ``fmt`` both ways; ``language`` None = the project's."""
        super().__init__(fmt, metadata)
        self._language = language

    def opening(self) -> list[str | bytes]:
        """Write ``start``."""
        return [
            json.dumps({**json.loads(message), "language": self._language})
            for message in super().opening()
        ]

    def text(self, text: str) -> str | bytes | None:
        """Write ``text``, or ``tap`` for a payload."""
        if isinstance(text, Payload):
            return json.dumps({"type": "tap", "payload": str(text)})
        return super().text(text)
