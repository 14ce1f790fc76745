"""How the process logs: one line an entry, static message first, data as ``key=value``.

Owns the handler and its format. Nothing here filters personal data: rooms keep words, digits and
secrets out of what they log.
"""

import logging
import sys
from typing import Final

_BUILT_IN: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}


class _Fields(logging.Formatter):
    """Add what was passed as ``extra`` behind the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the line; an exception follows it as usual."""
        extra = " ".join(
            f"{key}={value}" for key, value in vars(record).items() if key not in _BUILT_IN
        )
        line = f"{self.formatTime(record)} {record.levelname.lower():7} {record.name}: "
        line += record.getMessage() + (f" | {extra}" if extra else "")
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def set_up(level: str) -> None:
    """Log to stderr at ``level`` (debug, info, warning, error)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Fields())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # These print what may be private: addresses with tokens, request bodies, SQL with its values.
    for name in ("uvicorn", "httpx", "httpcore", "websockets", "openai", "aiosqlite"):
        logging.getLogger(name).setLevel(logging.WARNING)
