"""The tools of one skill on disk, as a project gets them, for tests that need no whole project."""

from pathlib import Path

from runtime.errors import ToolLoadingError
from runtime.tools.definition import ToolDef
from runtime.tools.loading import load_project_tools

SKILL = "s"
TOOLS = f"skills/{SKILL}/tools.py"
"""Where the file of the skill's tools stands below the root."""


def load_tools(root: Path) -> tuple[ToolDef, ...]:
    """Load ``skills/s/tools.py`` and ``skills/s/tools/*.py``.

    Raises:
        ToolLoadingError: the first thing that is wrong in them.
    """
    loaded = load_project_tools(root, [SKILL])
    for error in loaded.errors:
        raise ToolLoadingError(f"{error.place}: {error.message}; {error.mend}")
    return loaded.local[SKILL]
