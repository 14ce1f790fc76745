"""The error tree, by whose fault it is.

::

    AgentError
    ├── ProjectError      the author: file, line, column, what to write instead
    ├── ToolError         a tool; the model may see the message
    │   ├── ToolDefinitionError   (author, at import)
    │   ├── ToolLoadingError      (author, at load)
    │   └── MemoryWriteError
    │       └── ProjectMemoryAlreadySetError
    ├── ProviderError     STT, TTS, model, MCP; ``retryable``
    ├── WireError         the peer on a websocket
    ├── AudioError        a sound file or stream that can't be read
    └── InternalError     us

No message carries what a caller said, a tool's arguments or a secret.
"""

from dataclasses import dataclass


class AgentError(Exception):
    """Root of everything we raise on purpose."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A spot in an author's file; line and column count from 1, 0 = unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Write as ``file:line:column``, leaving out what is unknown."""
        return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a project: where, what, and what to write instead."""

    place: Place
    code: str
    """Stable name, for tools that read ``--json``."""
    message: str
    mend: str = ""
    excerpt: str = ""
    """The line as written with a caret below the place; empty where it may show a secret."""

    def __str__(self) -> str:
        """Write as one line for a terminal."""
        tail = f" ({self.mend})" if self.mend else ""
        return f"{self.place}: {self.message}{tail} [{self.code}]"


class ProjectError(AgentError):
    """A project can't be loaded; carries every problem found, not only the first."""

    def __init__(self, problems: list[Problem], warnings: tuple[str, ...] = ()) -> None:
        """Keep the problems in file order; ``warnings`` are what is only worth a look."""
        self.problems = sorted(problems, key=lambda p: (p.place, p.code))
        self.warnings = warnings
        super().__init__(
            "\n".join(f"{p}\n{p.excerpt}" if p.excerpt else str(p) for p in self.problems)
        )


class ToolError(AgentError):
    """A tool failed in a way that the model may be told."""


class ToolDefinitionError(ToolError):
    """A ``@tool`` is not well formed: names file, line and function."""


class ToolLoadingError(ToolError):
    """A tool module can't be imported: names the file and the cause."""


class ProjectToolsError(ProjectError, ToolLoadingError):
    """A project can't be loaded, its tools among the reasons."""


class MemoryWriteError(ToolError):
    """A memory write that the schema or the scope forbids."""


class ProjectMemoryAlreadySetError(MemoryWriteError):
    """A project field is written once a session."""


class ProviderError(AgentError):
    """An STT, TTS, model or MCP provider failed."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        """Say what failed; ``retryable`` if the same request may work soon."""
        super().__init__(message)
        self.retryable = retryable


class WireError(AgentError):
    """The peer on a websocket broke the protocol."""


class AudioError(AgentError):
    """A sound file or stream that can't be read: names the field and the value."""


class InternalError(AgentError):
    """A rule of ours that did not hold."""
