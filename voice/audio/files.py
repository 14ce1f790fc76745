"""Sound files: every kind in, plain WAV out.

Owns reading from and writing to disk; the one module of the room that touches files. WAV goes
through our own reader (``riff``) and is decoded here; kinds that pack their samples (ADPCM, GSM),
FLAC, Ogg, AIFF and the rest go to libsndfile, block by block, so that no header decides how much is
allocated. Both ways end in mono samples of at most ``MAX_SECONDS``.
"""

import io
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from runtime.errors import AudioError
from voice.audio import g711, riff
from voice.audio.codec import Samples
from voice.audio.riff import WavLayout, check_rate, read_layout

__all__ = ["MAX_SECONDS", "Sound", "decode_sound", "read_sound", "wav_bytes", "write_wav"]

MAX_SECONDS: Final = 3600
"""Longest sound that is read."""
_MAX_BYTES: Final = 1 << 30
"""Largest file that is opened."""
_BLOCK_SAMPLES: Final = 4096
"""Samples of all channels asked of libsndfile at a time; what a broken file loses at its end."""
_WAV_LIMIT: Final = 0xFFFFFFFF - 36
"""Bytes of sound that a WAV header can count."""


@dataclass(frozen=True, slots=True)
class Sound:
    """One channel of a sound file."""

    samples: Samples
    rate_hz: int
    warnings: tuple[str, ...]
    """What was wrong with the file and was read all the same; empty for a sound one."""

    @property
    def duration_ms(self) -> int:
        """Length, ms."""
        return round(self.samples.size * 1000 / self.rate_hz)


def read_sound(path: Path | str, rate_hz: int | None = None, channel: int | None = None) -> Sound:
    """Read one channel of a sound file.

    Args:
        path: the file.
        rate_hz: rate to convert to; None keeps the file's own.
        channel: which channel, from 0. May be left out only where there is just one: in a call
            recording the channels are two people, and mixing them is never what is wanted.

    Raises:
        AudioError: the file is missing, unreadable, empty, too long, no sound, lies about itself,
            or has no such channel. Names the file, and the field and value at fault.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise AudioError(f"{path}: size = {size} bytes: at most {_MAX_BYTES} are read")
        data = path.read_bytes()
    except OSError as error:
        raise AudioError(f"{path}: {error.strerror or 'unreadable'}") from error
    return decode_sound(data, rate_hz, channel, name=str(path))


def decode_sound(
    data: bytes, rate_hz: int | None = None, channel: int | None = None, *, name: str = "sound"
) -> Sound:
    """Read one channel of a sound file that is already in memory, as ``read_sound`` does.

    Raises:
        AudioError: as for ``read_sound``; ``name`` stands for the file.
    """
    if not data:
        raise AudioError(f"{name}: size = 0 bytes: the file is empty")
    try:
        sound = _decode_wav(data, channel) if data[:4] == b"RIFF" else _decode_other(data, channel)
    except AudioError as error:
        raise AudioError(f"{name}: {error}") from error
    if rate_hz is None or rate_hz == sound.rate_hz:
        return sound
    return Sound(_at_rate(sound.samples, sound.rate_hz, rate_hz), rate_hz, sound.warnings)


def wav_bytes(samples: Samples, rate_hz: int) -> bytes:
    """A 16-bit WAV file with a 44-byte header: the same samples always make the same bytes.

    Args:
        samples: shape ``(n,)``, or ``(n, 2)`` for two channels.
        rate_hz: samples a second and channel.

    Raises:
        AudioError: more sound than a WAV header can count.
    """
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    size = samples.size * 2
    if size > _WAV_LIMIT:
        raise AudioError(f"data: size = {size} bytes: a WAV file counts to {_WAV_LIMIT}")
    block = channels * 2
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + size, b"WAVE"),
        *(b"fmt ", 16, riff.PCM, channels, rate_hz, rate_hz * block, block, 16),
        *(b"data", size),
    )
    return header + samples.astype("<i2", copy=False).tobytes()


def write_wav(path: Path | str, samples: Samples, rate_hz: int) -> None:
    """Write what ``wav_bytes`` makes.

    Raises:
        AudioError: too much sound, or the file can't be written; names the file.
    """
    try:
        Path(path).write_bytes(wav_bytes(samples, rate_hz))
    except OSError as error:
        raise AudioError(f"{path}: {error.strerror or 'not writable'}") from error


def _decode_wav(data: bytes, channel: int | None) -> Sound:
    layout = read_layout(data)
    chosen = _choose(channel, layout.channels)
    if not layout.is_plain:
        repaired = _plain_container(data, layout)
        sound = _decode_other(repaired, chosen)
        return Sound(sound.samples, sound.rate_hz, layout.warnings + sound.warnings)
    frames = layout.size // layout.block_bytes
    _check_length(frames, layout.rate_hz)
    octets = np.frombuffer(data, np.uint8, count=layout.size, offset=layout.start)
    table = octets.reshape(frames, layout.channels, layout.sample_bytes)
    one = np.ascontiguousarray(table[:, chosen])
    warnings = list(layout.warnings)
    return Sound(_linear(layout, one, warnings), layout.rate_hz, tuple(warnings))


def _linear(layout: WavLayout, octets: NDArray[np.uint8], warnings: list[str]) -> Samples:
    """Samples out of one channel's bytes, shape ``(frames, sample_bytes)``."""
    match layout.tag, layout.sample_bytes:
        case riff.ULAW, _:
            return g711.ULAW_DECODE.take(octets[:, 0])
        case riff.ALAW, _:
            return g711.ALAW_DECODE.take(octets[:, 0])
        case riff.FLOAT, width:
            return _from_float(octets.view(f"<f{width}")[:, 0], warnings)
        case _, 1:
            return (octets[:, 0].astype(np.int16) - 128) << 8
        case _, 2:
            return octets.view("<i2")[:, 0].astype(np.int16, copy=False)
        case _, width:
            # the upper two bytes, rounded by the highest bit below them
            upper = np.ascontiguousarray(octets[:, width - 2 :]).view("<i2")[:, 0]
            rounded = upper.astype(np.int32) + (octets[:, width - 3] >> 7)
            return np.minimum(rounded, 32767).astype(np.int16)


def _from_float(values: NDArray[np.floating], warnings: list[str]) -> Samples:
    """Samples out of -1..1; what is louder is clipped, what is no number is silence."""
    broken = int(np.count_nonzero(~np.isfinite(values)))
    if broken:
        warnings.append(f"data: {broken} samples are no numbers: taken as silence")
        values = np.where(np.isfinite(values), values, 0.0)
    # clipped before scaling: the largest doubles would overflow
    return np.clip(np.rint(np.clip(values, -1.0, 1.0) * 32768.0), -32768, 32767).astype(np.int16)


def _plain_container(data: bytes, layout: WavLayout) -> bytes:
    """The same sound in a container without anything that confuses a library."""
    fmt = layout.fmt_body + bytes(len(layout.fmt_body) & 1)
    sound = data[layout.start : layout.start + layout.size]
    size = 4 + 8 + len(fmt) + 8 + len(sound)
    return b"".join(
        (
            struct.pack("<4sI4s4sI", b"RIFF", size, b"WAVE", b"fmt ", len(layout.fmt_body)),
            fmt,
            struct.pack("<4sI", b"data", len(sound)),
            sound,
        )
    )


class _Reader(Protocol):
    """The part of ``soundfile.SoundFile`` that is used; the library has no type stubs."""

    channels: int
    samplerate: int

    def read(self, frames: int, dtype: str, always_2d: bool) -> NDArray[np.float32]: ...

    def close(self) -> None: ...


def _open(data: bytes) -> _Reader:
    return cast(_Reader, soundfile.SoundFile(io.BytesIO(data)))


def _decode_other(data: bytes, channel: int | None) -> Sound:
    """Any kind that libsndfile knows; its idea of the length is never trusted."""
    try:
        reader = _open(data)
    except (soundfile.LibsndfileError, TypeError, ValueError) as error:
        raise AudioError(f"form = {data[:4]!r}: no sound file that can be read") from error
    warnings: list[str] = []
    blocks: list[Samples] = []
    try:
        chosen = _choose(channel, reader.channels)
        rate_hz = reader.samplerate
        check_rate("sample rate", rate_hz)
        frames = 0
        while (block := _next_block(reader, warnings)).shape[0]:
            frames += block.shape[0]
            _check_length(frames, rate_hz)
            blocks.append(_from_float(block[:, chosen], warnings))
    finally:
        reader.close()
    if not blocks:
        warnings.append("data: holds no sound")
    samples = np.concatenate(blocks) if blocks else np.zeros(0, np.int16)
    return Sound(samples, rate_hz, tuple(warnings))


def _next_block(reader: _Reader, warnings: list[str]) -> NDArray[np.float32]:
    """The next frames of every channel; none at the end, or where the rest is broken."""
    try:
        return reader.read(_BLOCK_SAMPLES // reader.channels, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError:
        warnings.append("data: the rest can't be decoded: cut short")
        return np.zeros((0, reader.channels), np.float32)


def _choose(channel: int | None, channels: int) -> int:
    """The channel to read.

    Raises:
        AudioError: there are several and none was chosen, or there is none of that number.
    """
    if channel is None:
        if channels > 1:
            raise AudioError(
                f"channels = {channels}: say which one, 0 to {channels - 1} "
                "(--caller-channel on the command line)"
            )
        return 0
    if not 0 <= channel < channels:
        raise AudioError(f"channel = {channel}: the file has {channels}, counted from 0")
    return channel


def _check_length(frames: int, rate_hz: int) -> None:
    if frames > MAX_SECONDS * rate_hz:
        raise AudioError(f"duration = {frames / rate_hz:.0f} s: at most {MAX_SECONDS} s are read")


def _at_rate(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """Convert a whole sound; the live path's filter is ``resample``."""
    check_rate("rate_hz", to_hz)
    return cast(Samples, soxr.resample(samples, from_hz, to_hz))
