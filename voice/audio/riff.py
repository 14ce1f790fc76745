"""A WAV file's header, read with suspicion.

Owns the walk over RIFF chunks and the judgement of the ``fmt `` fields: what a header claims is
believed only where the bytes of the file agree. Works on bytes that were already read, so no length
from a header is ever allocated. Turning the sound into samples is ``files``.

What is repaired, each with a warning: a placeholder or too large data length (a recorder that wrote
to a pipe), a missing pad byte after an odd chunk, a last block that is cut. What is refused, each
naming the field and its value: zeros, widths no encoding has, fields that contradict each other.
"""

import struct
from dataclasses import dataclass
from typing import Final

from runtime.errors import AudioError

__all__ = ["ALAW", "FLOAT", "PCM", "ULAW", "WavLayout", "check_rate", "read_layout"]

PCM: Final = 0x0001
FLOAT: Final = 0x0003
ALAW: Final = 0x0006
ULAW: Final = 0x0007
_EXTENSIBLE: Final = 0xFFFE
_GUID_TAIL: Final = bytes.fromhex("000000001000800000aa00389b71")
"""What follows the tag in the sub-format of every encoding that has a tag."""

_BITS: Final = {PCM: (8, 16, 24, 32), FLOAT: (32, 64), ALAW: (8, 0), ULAW: (8, 0)}
"""Sample widths each encoding we decode may declare; call recorders write 0 for G.711."""

_MAX_CHANNELS: Final = 64
_RATES_HZ: Final = range(1000, 384_001)
_MAX_CHUNKS: Final = 1000
_PLACEHOLDER: Final = 0x7FFF0000
"""Lengths from here up stand for "unknown": recorders write 0x7FFFFFFF, 0xFFFFFFFF and near it."""

_KNOWN: Final = frozenset(
    b"fmt |data|fact|LIST|JUNK|junk|bext|id3 |ID3 |iXML|cue |smpl|inst|PEAK|PAD |FLLR|cart|axml"
    b"|chna|acid|note|labl|ltxt|plst|slnt|wavl|DISP|afsp|umid|_PMX|minf|elm1|regn|strc".split(b"|")
)


@dataclass(frozen=True, slots=True)
class WavLayout:
    """Where the sound is and how its samples are written."""

    tag: int
    """Format tag, taken out of an extensible header."""
    channels: int
    rate_hz: int
    block_bytes: int
    """Bytes of one sample of every channel; of one packet for a tag that packs."""
    fmt_body: bytes
    """The ``fmt `` chunk as it stands."""
    start: int
    """Byte offset of the sound."""
    size: int
    """Bytes of sound that are really there, whole blocks only."""
    warnings: tuple[str, ...]

    @property
    def sample_bytes(self) -> int:
        """Bytes of one sample of one channel."""
        return self.block_bytes // self.channels

    @property
    def is_plain(self) -> bool:
        """True if every sample stands for itself, so that no decoder library is needed."""
        return self.tag in _BITS


@dataclass(slots=True)
class _Found:
    """What the walk has met so far."""

    fmt_body: bytes | None = None
    start: int | None = None
    size: int = 0


def read_layout(data: bytes) -> WavLayout:
    """Find and judge the format and the sound of a RIFF/WAVE file.

    Args:
        data: the whole file, as much of it as exists.

    Raises:
        AudioError: no WAV file, or one whose header can't be believed; names field and value.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise AudioError(f"form = {data[:4]!r} {data[8:12]!r}: not a RIFF/WAVE file")
    warnings: list[str] = []
    found = _walk(data, warnings)
    if found.fmt_body is None:
        raise AudioError("chunk 'fmt ' is missing")
    if found.start is None:
        raise AudioError("chunk 'data' is missing")
    tag, channels, rate_hz, block_bytes = _judge(found.fmt_body, warnings)
    rest = found.size % block_bytes
    if rest:
        warnings.append(f"data: the last {rest} bytes are no whole block of {block_bytes}")
    if found.size < block_bytes:
        warnings.append("data: holds no sound")
    return WavLayout(
        tag=tag,
        channels=channels,
        rate_hz=rate_hz,
        block_bytes=block_bytes,
        fmt_body=found.fmt_body,
        start=found.start,
        size=found.size - rest,
        warnings=tuple(warnings),
    )


def check_rate(field: str, rate_hz: int) -> None:
    """Refuse a sample rate that no sound has.

    Raises:
        AudioError: naming the field and its value.
    """
    if rate_hz not in _RATES_HZ:
        raise AudioError(
            f"{field} = {rate_hz}: {_RATES_HZ.start} to {_RATES_HZ.stop - 1} are possible"
        )


def _walk(data: bytes, warnings: list[str]) -> _Found:
    """Go from chunk to chunk until format and sound are found; what follows them is no matter.

    Raises:
        AudioError: something that is no chunk is in the way; names the byte offset.
    """
    found = _Found()
    at = 12
    for _ in range(_MAX_CHUNKS):
        if at + 8 > len(data):
            return found
        name = data[at : at + 4]
        (size,) = struct.unpack_from("<I", data, at + 4)
        body = at + 8
        if name == b"data" and found.start is None:
            size = _sound_size(data, body, size, warnings)
            found.start, found.size = body, size
        elif body + size > len(data):
            raise AudioError(f"chunk {name!r} at byte {at}: size = {size} is past the end")
        elif name == b"fmt " and found.fmt_body is None:
            found.fmt_body = data[body : body + size]
        if found.fmt_body is not None and found.start is not None:
            return found
        at = _next_chunk(data, body + size, size & 1, warnings)
    raise AudioError(f"chunk at byte {at}: no sound within {_MAX_CHUNKS} chunks")


def _sound_size(data: bytes, body: int, size: int, warnings: list[str]) -> int:
    """Bytes of sound behind a ``data`` header that may not know."""
    there = len(data) - body
    if size == 0:
        if there == 0 or data[body : body + 4] in _KNOWN:
            return 0
        warnings.append("data: size = 0 with bytes behind it: read to the end")
        return there
    if size >= _PLACEHOLDER and size > there:
        warnings.append(f"data: size = {size:#x} stands for unknown: read to the end")
        return there
    if size > there:
        warnings.append(f"data: size = {size} but {there} bytes are there: cut short")
        return there
    return size


def _next_chunk(data: bytes, end: int, pad: int, warnings: list[str]) -> int:
    """Where the chunk after one that ends at ``end`` begins, its pad byte there or not.

    The pad follows from the size and not from the offset: behind a missing one all offsets are odd.

    Raises:
        AudioError: neither place looks like a chunk; names the byte offset.
    """
    padded = end + pad
    if padded + 8 > len(data):
        return padded
    candidates = [(at, data[at : at + 4]) for at in dict.fromkeys((padded, end))]
    likely = [at for at, name in candidates if name in _KNOWN]
    likely += [at for at, name in candidates if _printable(name)]
    if not likely:
        name = data[padded : padded + 4]
        raise AudioError(f"chunk at byte {padded}: name = {name!r} is no chunk name")
    if likely[0] != padded:
        warnings.append(f"chunk at byte {end}: the pad byte before it is missing")
    return likely[0]


def _printable(name: bytes) -> bool:
    return all(0x20 <= byte < 0x7F for byte in name)


def _judge(fmt_body: bytes, warnings: list[str]) -> tuple[int, int, int, int]:
    """Tag, channels, rate and block size, once they make sense together.

    Raises:
        AudioError: naming the field and its value.
    """
    if len(fmt_body) < 14:
        raise AudioError(f"fmt: size = {len(fmt_body)}: at least 14 bytes are needed")
    tag, channels, rate_hz, byte_rate, block_bytes = struct.unpack_from("<HHIIH", fmt_body)
    bits: int = struct.unpack_from("<H", fmt_body, 14)[0] if len(fmt_body) >= 16 else 0
    if tag == _EXTENSIBLE:
        tag = _sub_format(fmt_body)
    if not 1 <= channels <= _MAX_CHANNELS:
        raise AudioError(f"fmt: channels = {channels}: 1 to {_MAX_CHANNELS} are possible")
    check_rate("fmt: sample rate", rate_hz)
    if tag not in _BITS:
        if block_bytes == 0:
            raise AudioError("fmt: block align = 0")
        return tag, channels, rate_hz, block_bytes
    if bits not in _BITS[tag]:
        raise AudioError(f"fmt: bits per sample = {bits}: with format {tag} it is {_BITS[tag]}")
    expected = channels * max(bits // 8, 1)
    if block_bytes != expected:
        raise AudioError(
            f"fmt: block align = {block_bytes}: {channels} channels of {bits} bits make {expected}"
        )
    if byte_rate != rate_hz * block_bytes:
        warnings.append(f"fmt: byte rate = {byte_rate} should be {rate_hz * block_bytes}")
    return tag, channels, rate_hz, block_bytes


def _sub_format(fmt_body: bytes) -> int:
    """The tag inside an extensible header; mask and valid bits don't change how bytes are read.

    Raises:
        AudioError: the header is too short, or its sub-format has no tag.
    """
    if len(fmt_body) < 40:
        raise AudioError(f"fmt: size = {len(fmt_body)}: an extensible header has 40 bytes")
    (tag,) = struct.unpack_from("<H", fmt_body, 24)
    if fmt_body[26:40] != _GUID_TAIL:
        raise AudioError(f"fmt: sub-format = {fmt_body[24:40].hex()}: not a known encoding")
    return tag
