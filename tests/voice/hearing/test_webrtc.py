"""The cheap gate."""

import numpy as np
import pytest

from runtime.errors import AudioError
from tests.voice.hearing.fakes import buzz
from voice.hearing.webrtc import WebRtcGate


@pytest.mark.parametrize("rate_hz", [8000, 16000, 24000, 48000])
def test_a_vowel_is_voiced_and_digital_silence_is_not(rate_hz: int) -> None:
    gate = WebRtcGate(rate_hz)
    size = rate_hz // 50
    sound = np.repeat(buzz(400, -20), rate_hz // 8000)
    quiet = np.zeros(size, np.int16)
    assert not any(gate.is_voiced(quiet) for _ in range(20))
    assert all(gate.is_voiced(sound[at : at + size]) for at in range(2 * size, 20 * size, size))


def test_a_frame_of_another_length_counts_as_unvoiced() -> None:
    gate = WebRtcGate(8000)
    for samples in (0, 1, 159, 161, 480):
        assert gate.is_voiced(np.full(samples, 9000, np.int16)) is False


def test_a_rate_the_live_path_does_not_know_is_refused() -> None:
    with pytest.raises(AudioError):
        WebRtcGate(44100)
