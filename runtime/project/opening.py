"""Where a project is read from: its folder, or the temporary folder that a packed file becomes.

Owns those temporary folders: one a file and process, in the system's place for them, removed when
the process exits. What is in a packed file is ``pack`` and ``unpack``.
"""

import atexit
import shutil
import tempfile
from pathlib import Path

from runtime.errors import Place, Problem, ProjectError

__all__ = ["folder_of"]

_unpacked: dict[tuple[Path, int, int], Path] = {}
"""By file, its time and its size: a file that was written anew is unpacked anew."""


def folder_of(path: Path) -> Path:
    """Return the folder to read; a packed file is unpacked once a process.

    Raises:
        ProjectError: a packed file that can't be used.
    """
    if not path.is_file():
        return path.resolve()
    from runtime.project.pack import is_packed, unpack

    if not is_packed(path):
        problem = Problem(
            Place(str(path)),
            "missing_project",
            "this is neither a project's folder nor a packed project",
            "name the folder that holds agent.yml, or a file of 'bargein train'",
        )
        raise ProjectError([problem])
    file = path.resolve()
    about = file.stat()
    key = (file, about.st_mtime_ns, about.st_size)
    if key not in _unpacked:
        into = Path(tempfile.mkdtemp(prefix="bargein-"))
        atexit.register(shutil.rmtree, into, ignore_errors=True)
        _unpacked[key] = unpack(file, into).resolve()
    return _unpacked[key]
