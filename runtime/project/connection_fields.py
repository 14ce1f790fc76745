"""What declarations of MCP servers and tool providers share: addresses, waits, secrets.

Owns the typed reading of those values and their messages.
"""

import re

from runtime.errors import Place
from runtime.project.engine_names import check_url
from runtime.project.fields import Fields
from runtime.project.problems import Problems
from runtime.project.server_model import RETRIES_S
from runtime.project.yaml_nodes import Node, Scalar, as_number

__all__ = ["NAME", "place_of", "read_retries", "read_timeout", "read_url", "refuse_literal"]

NAME = re.compile(r"[A-Za-z0-9_.-]+")
"""How servers and providers are called."""

_SECRET_HEADER = re.compile("authori|token|secret|password|cookie|key", re.IGNORECASE)
_VARIABLE = re.compile(r"\$?\{[A-Za-z_]\w*(:-)?\}")
_MOST_RETRIES = 20
_MOST_RETRY_S = 3600.0
_DAY_MS = 86_400_000


def read_timeout(fields: Fields, key: str) -> float | None:
    """Seconds, more than 0; None when it was not written."""
    if fields.node(key) is None:
        return None
    found_ms = fields.seconds_ms(key, _DAY_MS)
    if found_ms == 0:
        fields.problem(
            place_of(fields, key),
            "out_of_range",
            f"'{fields.path(key)}' must be more than 0",
            "write the seconds it may take at most",
        )
        return None
    return found_ms / 1000


def read_retries(fields: Fields) -> tuple[float, ...]:
    """Seconds between attempts; an empty list is a wish of its own: one attempt."""
    if fields.node("init_retries") is None:
        return RETRIES_S
    found: list[float] = []
    nodes = fields.items("init_retries")
    for node in nodes:
        number = as_number(node) if isinstance(node, Scalar) else None
        if number is None or not 0 <= number <= _MOST_RETRY_S:
            fields.problem(
                node.place,
                "out_of_range",
                f"'{fields.path('init_retries')}' holds seconds to wait before each attempt",
                f"write numbers from 0 to {_MOST_RETRY_S:g}",
            )
            continue
        found.append(float(number))
    if len(nodes) > _MOST_RETRIES:
        fields.problem(
            nodes[_MOST_RETRIES].place,
            "out_of_range",
            f"'{fields.path('init_retries')}' holds more than {_MOST_RETRIES} attempts",
            "shorten it",
        )
    return tuple(found)


def read_url(fields: Fields, key: str, problems: Problems) -> str | None:
    """A web address; None when it was not written."""
    url = fields.text(key)
    if url is not None:
        check_url(url, fields.path(key), place_of(fields, key), problems)
    return url


def place_of(fields: Fields, key: str) -> Place:
    """Where the value of a key stands, or the block that should hold it."""
    entry = fields.entry(key)
    return entry.value.place if entry else fields.place


def refuse_literal(name: str, node: Node, problems: Problems) -> None:
    """A header that carries a secret gets it from a variable: ``${NAME}``, or ``{NAME}`` where the
    provider fills it in.
    """
    if not isinstance(node, Scalar) or not node.text or not _SECRET_HEADER.search(name):
        return
    if not _VARIABLE.search(node.written):
        variable = re.sub(r"\W", "_", name).upper()
        problems.add(
            node.place,
            "literal_secret",
            f"'{name}' is a secret and must not stand in a file",
            f"write ${{{variable}}} and set that variable in the environment",
        )
