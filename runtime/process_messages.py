"""What the agent process and its parent tell each other, beside the door's own messages.

Owns the frames on the pipe between ``process`` and ``process_child``; both ends are always of one
version, so frames are pickled lists of these records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtime.agent import FromRuntime, ToRuntime
from runtime.errors import Problem

__all__ = [
    "Beat",
    "ChildSetup",
    "Detach",
    "FromChild",
    "Logged",
    "NotStarted",
    "Ready",
    "Stop",
    "Stuck",
    "ToChild",
]


@dataclass(frozen=True, slots=True)
class ChildSetup:
    """What a new agent process is told."""

    build: str
    """``module:function`` that returns the child's ``AgentParts``."""
    arguments: tuple[tuple[str, object], ...]
    """Keyword arguments of that function; picklable."""
    first_id: int
    log_level: int


@dataclass(frozen=True, slots=True)
class Detach:
    """The voice plane forgot a call."""

    call: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Close every call and end."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The agent is built and serves."""

    closing_bound_s: float = 40.0
    """How long it may take to settle what runs when it is told to stop."""


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The agent can't be built."""

    text: str
    problems: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True)
class Beat:
    """The child's event loop is alive."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """Something holds the child's event loop up."""

    task: str
    """Name of the task, e.g. ``tool charge``."""
    where: str
    """File and line it is at."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A log record of the child."""

    name: str
    level: int
    message: str
    fields: tuple[tuple[str, object], ...]


ToChild: TypeAlias = ToRuntime | Detach | Stop
FromChild: TypeAlias = FromRuntime | Ready | NotStarted | Beat | Stuck | Logged
