"""The one place that touches onnxruntime: sessions of one thread each, and where models lie.

Owns finding a model file inside an installed package without importing the package, and opening it.
What goes in and out of a model belongs to its engine (``silero``, ``moonshine``).
"""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from runtime.errors import ProviderError

__all__ = ["Session", "Tensor", "file_in_package", "open_session", "sha256_of", "zeros"]

Tensor = NDArray[Any]
"""An array of whatever element type the model names."""


class Session(Protocol):
    """A loaded model."""

    def run(self, wanted: Sequence[str] | None, feeds: Mapping[str, Tensor], /) -> list[Tensor]:
        """Compute the wanted outputs (``None`` = all, in the model's order)."""
        ...


def file_in_package(package: str, *parts: str) -> Path:
    """Find a file that a package ships, without running the package's code.

    Raises:
        ProviderError: the package is not installed or does not carry the file.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ProviderError(f"package {package} is not installed")
    path = Path(spec.origin).parent.joinpath(*parts)
    if not path.is_file():
        raise ProviderError(f"package {package} carries no {'/'.join(parts)}")
    return path


def sha256_of(path: Path) -> str:
    """Hash a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_session(path: Path) -> Session:
    """Load a model for one thread on the CPU.

    One thread, because many calls share two cores with the event loop: parallelism comes from
    batching, never from a pool that would take the loop's core.

    Raises:
        ProviderError: onnxruntime can't load the file.
    """
    import onnxruntime  # costs 150 ms and 40 MB: only processes with a local engine pay

    runtime = cast("Any", onnxruntime)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ProviderError(f"onnxruntime can't load {path.name}") from error
    return cast("Session", session)


def zeros(*shape: int) -> NDArray[np.float32]:
    """An empty tensor of 32-bit floats."""
    return np.zeros(shape, np.float32)
