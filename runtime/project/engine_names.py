"""Names of engines in ``integrations.yml``: ours, those of later versions, authors' own modules.

Owns the messages about a name that is none. Which names there are is each reader's.
"""

import re
from collections.abc import Collection

from runtime.errors import Place
from runtime.project.problems import Problems, listed, nearest

__all__ = ["MODULE_PATH", "check_engine", "check_url"]

MODULE_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?")
"""``package.module`` or ``package.module:Class``."""

_URL = re.compile(r"https?://[^\s/@]+(/[^\s]*)?", re.IGNORECASE)


def check_engine(
    name: str,
    known: Collection[str],
    later: Collection[str],
    place: Place,
    problems: Problems,
) -> None:
    """Note a problem unless the name is known or a module path."""
    if name in known or MODULE_PATH.fullmatch(name):
        return
    if name in later:
        problems.add(
            place,
            "unsupported",
            f"'{name}' is not supported yet in this version",
            f"write {listed(known)}",
        )
        return
    close = nearest(name, known)
    problems.add(
        place,
        "unknown_value",
        f"there is no engine called '{name}'",
        f"did you mean '{close}'?"
        if close
        else f"write {listed(known)}, or the module path of your own",
    )


def check_url(url: str, what: str, place: Place, problems: Problems) -> None:
    """Note a problem unless it is a web address without a user's name in it.

    The address is not shown: a variable that fills it may hold a secret.
    """
    if _URL.fullmatch(url):
        return
    problems.add(
        place,
        "bad_url",
        f"'{what}' is no web address",
        "write http://… or https://…, without a name or password in it",
    )
