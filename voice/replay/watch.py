"""What the agent does, as its caller notices: starts, ends, tools; and whether all is quiet.

Owns the reading of the call's events and of the sound really heard into the anchors of ``at``.
Pure. The events say what is still to come (a written message, an open turn), the sound says what
was heard; a pause in the middle of a line, or a hold, is no end.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from runtime.agent import Fields, Json
from voice.replay.at import Happenings

_AUDIBLE: Final = 64
"""Smallest sample that counts as sound: -54 dBFS, well under the softest speech."""


class AgentWatch:
    """The agent of one call."""

    def __init__(self, happenings: Happenings) -> None:
        """Tell ``happenings`` each anchor as it comes."""
        self._happenings = happenings
        self._open_says: set[Json] = set()
        self._open_tools: set[Json] = set()
        self._turn: Json = None
        self._speaking = False
        self.last_sound_ms = 0.0
        """End of the latest sound heard; 0 before the first."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing more of the agent is to be expected unless something happens."""
        return not (self._speaking or self._open_says or self._open_tools or self._turn is not None)

    def event(self, name: str, fields: Fields, t_ms: float) -> None:
        """Take one of the call's events."""
        values = dict(fields)
        match name:
            case "turn_started":
                self._turn = values.get("turn", 0)
            case "turn_ended" | "interrupted":
                if self._turn == values.get("turn", self._turn):
                    self._turn = None
            case "agent_said" if values.get("state") == "written":
                self._open_says.add(values.get("say"))
            case "say_started":
                self._say_started(values.get("say"))
                self._happenings.note("say_starts", t_ms)
            case "say_settled":
                self._open_says.discard(values.get("say"))
                if values.get("outcome") in ("heard", "cut"):
                    self._happenings.note("say_ends", t_ms)
            case "tool_started":
                self._open_tools.add(values.get("call_id"))
                self._happenings.note("tool_starts", t_ms)
            case "tool_settled":
                self._open_tools.discard(values.get("call_id"))
                self._happenings.note("tool_ends", t_ms)
            case "call_ended":
                self._turn = None
                self._open_says.clear()
                self._open_tools.clear()
            case _:
                pass

    def _say_started(self, say: Json) -> None:
        """Expect more of this line; fillers are never settled, their sound alone tells."""
        if isinstance(say, int) and say >= 0:
            self._open_says.add(say)

    def heard(self, samples: NDArray[np.int16], start_ms: float, rate_hz: int) -> None:
        """Take the next stretch of what was heard, from ``start_ms`` on; silence included."""
        loud = np.flatnonzero(np.abs(samples.astype(np.int32)) >= _AUDIBLE)
        if loud.size:
            if not self._speaking:
                self._speaking = True
                self._happenings.note("agent_starts", start_ms + int(loud[0]) * 1000 / rate_hz)
            self.last_sound_ms = start_ms + (int(loud[-1]) + 1) * 1000 / rate_hz
        elif self._speaking and not self._open_says and self._turn is None:
            self._speaking = False
            self._happenings.note("agent_ends", self.last_sound_ms)
