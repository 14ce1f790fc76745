"""``events.jsonl``: one object a line, ``t_ms`` and ``event`` first, its fields by name.

Owns the file's form; the names and fields are listed in ``docs/events.md``. Pure but for ``write``.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from voice.call.events import CallEvent


def event_line(event: CallEvent) -> str:
    """Write one event; the same event always gives the same text."""
    fields = {key: value for key, value in sorted(event.fields) if key not in ("t_ms", "event")}
    record = {"t_ms": event.t_ms, "event": event.event, **fields}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def write_events(path: Path, events: Iterable[CallEvent]) -> None:
    """Write a call's events in the order given."""
    text = "".join(f"{event_line(event)}\n" for event in events)
    path.write_text(text, encoding="utf-8", newline="\n")
