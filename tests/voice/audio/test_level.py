"""How loud a frame is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.level import FLOOR_DBFS, dbfs


def test_full_scale_is_zero_and_a_sine_is_three_below() -> None:
    assert dbfs(np.full(160, -32768, np.int16)) == pytest.approx(0.0, abs=1e-4)
    sine = (32767 * np.sin(2 * np.pi * np.arange(8000) / 80)).astype(np.int16)
    assert dbfs(sine) == pytest.approx(-3.01, abs=0.01)


def test_half_the_amplitude_is_six_below() -> None:
    assert dbfs(np.full(160, 16384, np.int16)) == pytest.approx(-6.02, abs=0.01)


def test_silence_and_nothing_are_the_floor() -> None:
    assert dbfs(np.zeros(160, np.int16)) == FLOOR_DBFS
    assert dbfs(np.zeros(0, np.int16)) == FLOOR_DBFS


@given(st.lists(st.integers(-32768, 32767), max_size=960))
def test_the_level_is_always_between_floor_and_full_scale(values: list[int]) -> None:
    assert FLOOR_DBFS <= dbfs(np.array(values, np.int16)) <= 1e-3
