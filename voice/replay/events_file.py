"""``events.jsonl``: one object a line, ``t_ms`` and ``event`` first, its fields by name.

Owns the file's form; the names and fields are listed in ``docs/events.md``. Pure but for ``write``.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from voice.call.events import CallEvent

_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Characters that some readers take for the end of a line, as JSON escapes."""


def event_line(event: CallEvent) -> str:
    """Write one event; the same event always gives the same text."""
    fields = {key: value for key, value in sorted(event.fields) if key not in ("t_ms", "event")}
    record = {"t_ms": event.t_ms, "event": event.event, **fields}
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_ENDS)


def write_events(path: Path, events: Iterable[CallEvent]) -> None:
    """Write a call's events in the order given."""
    text = "".join(f"{event_line(event)}\n" for event in events)
    # half of a surrogate pair can't be UTF-8; its escape is the same string in JSON
    path.write_bytes(text.encode("utf-8", "backslashreplace"))
