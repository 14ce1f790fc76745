"""What a call tells whoever watches it: the page, the report, the log, the metrics.

Owns the record only; ``docs/events.md`` lists the names and their fields. The caller's and the
agent's words stand only in fields named ``text``, which logs leave out.
"""

from dataclasses import dataclass

from runtime.agent import Fields


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One thing that happened in a call, at ``t_ms`` of its clock."""

    call: int
    t_ms: int
    event: str
    fields: Fields = ()
