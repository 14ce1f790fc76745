"""One atomic step of the floor: its moment, the orders it gives, its timers.

Owns the list of actions of the running ``handle`` call, the stamps of the timers and the one
counter of stale and refused events. Decides nothing; every part of the floor writes through it, so
that the order of the actions is the order of the decisions.
"""

from runtime.agent import Json
from voice.floor.actions import ArmTimer, FloorAction, Record

_EARLY_MS = 50
"""A timer may come this much before its time (rounding of the driver's clock) and still count."""


class Step:
    """What the parts share: ``now`` in, actions out, timers as data."""

    __slots__ = ("_due", "_stamps", "actions", "now", "stale")

    def __init__(self) -> None:
        self.now = 0
        self.actions: list[FloorAction] = []
        self.stale: dict[str, int] = {}
        """How often an event came for something that is over or never was, by kind."""
        self._stamps: dict[str, int] = {}
        self._due: dict[str, int] = {}

    def begin(self, now: int) -> None:
        """Start a step; time never runs backwards."""
        if now > self.now:
            self.now = now
        self.actions = []

    def emit(self, action: FloorAction) -> None:
        """Give an order."""
        self.actions.append(action)

    def record(self, event: str, reason: str, text: str | None = None, **fields: Json) -> None:
        """Give a decision's reason as a category; anyone's words go in ``text`` alone."""
        facts: list[tuple[str, Json]] = [("reason", reason), *fields.items()]
        if text is not None:
            facts.append(("text", text))
        self.actions.append(Record(event, tuple(facts)))

    def refuse(self, kind: str) -> None:
        """Count an event that is stale, repeated or malformed: the one place where they end."""
        self.stale[kind] = self.stale.get(kind, 0) + 1

    def arm(self, key: str, due_ms: int) -> None:
        """Have ``key`` fire at ``due_ms`` (at once when that is past); the same due is kept."""
        due_ms = max(due_ms, self.now)
        if self._due.get(key) == due_ms:
            return
        stamp = self._stamps.get(key, 0) + 1
        self._stamps[key] = stamp
        self._due[key] = due_ms
        self.actions.append(ArmTimer(key, stamp, due_ms))

    def disarm(self, key: str) -> None:
        """Forget a timer: the next arming gets a new stamp, so a late firing is stale."""
        self._due.pop(key, None)

    def due(self, key: str) -> int | None:
        """When an armed timer fires."""
        return self._due.get(key)

    @property
    def armed(self) -> tuple[str, ...]:
        """Keys of the armed timers."""
        return tuple(self._due)

    def fired(self, key: str, stamp: int) -> bool:
        """Take a firing: False when it is stale or far too early.

        A timer that was disarmed or replaced may well fire; only one that was never given out, or
        comes too early, is counted.
        """
        due = self._due.get(key)
        newest = self._stamps.get(key, 0)
        if due is None or newest != stamp or due - self.now > _EARLY_MS:
            if not 0 < stamp <= newest or (due is not None and newest == stamp):
                self.refuse("TimerFired")
            return False
        del self._due[key]
        self.now = max(self.now, due)
        return True
