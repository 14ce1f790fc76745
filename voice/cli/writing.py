"""Where a command is to write: looked at before the work, so that no work is lost.

Owns the two questions, whether a folder and whether a file can be written, and their messages.
"""

from pathlib import Path

from runtime.errors import AgentError

__all__ = ["UnwritableError", "ready_file", "ready_folder"]


class UnwritableError(AgentError):
    """A place that can't be written: says why, and which option to change."""


def ready_folder(path: Path, option: str) -> None:
    """Make the folder, and see that files can be put there.

    Raises:
        UnwritableError: they can't.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".bargein-probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        reason = "it is a file" if path.is_file() else error.strerror or type(error).__name__
        raise UnwritableError(
            f"can't write to {path}: {reason}; choose another folder with {option}"
        ) from None


def ready_file(path: Path, option: str) -> None:
    """Make the file's folder, and see that the file can be written; its contents stay.

    Raises:
        UnwritableError: it can't.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        reason = "it is a folder" if path.is_dir() else error.strerror or type(error).__name__
        raise UnwritableError(
            f"can't write {path}: {reason}; name another file with {option}"
        ) from None
