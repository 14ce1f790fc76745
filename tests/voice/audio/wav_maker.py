"""WAV files as recorders should not write them, made chunk by chunk."""

import struct


def chunk(name: bytes, body: bytes, *, size: int | None = None, pad: bool = True) -> bytes:
    """One chunk; ``size`` may lie, ``pad=False`` forgets the byte after an odd body."""
    padding = b"\0" if pad and len(body) & 1 else b""
    return struct.pack("<4sI", name, len(body) if size is None else size) + body + padding


def fmt(
    *,
    tag: int = 1,
    channels: int = 1,
    rate_hz: int = 8000,
    bits: int = 16,
    block: int | None = None,
    byte_rate: int | None = None,
    tail: bytes = b"",
) -> bytes:
    """A ``fmt `` chunk; block and byte rate follow from the rest unless given."""
    block = channels * bits // 8 if block is None else block
    byte_rate = rate_hz * block & 0xFFFFFFFF if byte_rate is None else byte_rate
    body = struct.pack("<HHIIHH", tag, channels, rate_hz, byte_rate, block, bits)
    return chunk(b"fmt ", body + tail)


def wav(*chunks: bytes, riff_size: int | None = None) -> bytes:
    """A RIFF/WAVE file of these chunks."""
    body = b"WAVE" + b"".join(chunks)
    return struct.pack("<4sI", b"RIFF", len(body) if riff_size is None else riff_size) + body
