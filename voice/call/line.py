"""One call's way out: sound, marks and clears written in the client's protocol.

Owns nothing but the pairing of a codec with the outbound queue; the mouth speaks to it.
"""

from voice.call.ports import Outbound
from voice.wire.events import WireProtocol


class ClientLine:
    """What the mouth plays into."""

    def __init__(self, protocol: WireProtocol, out: Outbound) -> None:
        """Pair the codec with its queue."""
        self._protocol = protocol
        self._out = out

    def audio(self, payload: bytes) -> None:
        """Queue sound in the line's format."""
        self._out.audio(self._protocol.audio(payload))

    def mark(self, name: str) -> None:
        """Queue a mark behind the sound so far."""
        self._out.audio(self._protocol.mark(name))

    def clear(self) -> None:
        """Drop what is queued here and buffered there."""
        self._out.clear(self._protocol.clear())
