"""Messages of any size to whole frames of 20 ms.

Owns the bytes that did not fill a frame yet; one object a stream and direction. Knows no encoding
beyond the size of a sample: decoding the frames is ``codec``.
"""

from voice.audio.codec import silence
from voice.audio.format import AudioFormat

__all__ = ["Reblocker"]


class Reblocker:
    """Cuts one stream into frames; never raises, whatever the messages' sizes."""

    def __init__(self, fmt: AudioFormat) -> None:
        """Start a stream of this format with nothing carried."""
        self._fmt = fmt
        self._frame_bytes = fmt.frame_bytes
        self._carry = b""
        self.dropped_bytes = 0
        """Bytes that no frame will ever hold: carried at a reset, or half a sample at the end."""

    @property
    def carried_bytes(self) -> int:
        """Bytes that wait for the rest of their frame; less than a frame."""
        return len(self._carry)

    def push(self, data: bytes) -> list[bytes]:
        """Take one message; return the frames that are whole now, oldest first.

        An odd PCM16 byte waits for its other half like any other part of a frame. An empty message
        changes nothing.
        """
        size = self._frame_bytes
        if not self._carry and len(data) == size:
            return [data]
        data = self._carry + data
        end = len(data) - len(data) % size
        self._carry = data[end:]
        return [data[at : at + size] for at in range(0, end, size)]

    def finish(self) -> list[bytes]:
        """End the stream: return the last frame, filled up with silence, or nothing.

        Half a sample is dropped and counted. The next ``push`` begins a new stream.
        """
        sample_bytes = self._fmt.encoding.sample_bytes
        odd = len(self._carry) % sample_bytes
        whole = self._carry[: len(self._carry) - odd]
        self._carry = b""
        self.dropped_bytes += odd
        if not whole:
            return []
        missing = (self._frame_bytes - len(whole)) // sample_bytes
        return [whole + silence(self._fmt, missing)]

    def reset(self) -> None:
        """Forget what is carried, and count it: a clear, or a new stream on the same line."""
        self.dropped_bytes += len(self._carry)
        self._carry = b""
