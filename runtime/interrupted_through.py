"""The one thing that the planes share beside messages: per call, the highest interrupted turn.

Owns the table. The voice plane writes it the moment the floor commits; the agent plane reads it
where a tool asks whether it is cancelled, also in another process and while a tool blocks the loop
there, since the table lies in shared memory then. One writer, aligned 64-bit integers: a reader
sees the old value or the new one.
"""

from collections import deque
from multiprocessing import get_context
from typing import Protocol, cast

from runtime.agent import CloseCall, InterruptTurn, ToRuntime

__all__ = ["SLOTS", "InterruptedThrough", "Table", "shared_table"]

SLOTS = 4096
"""Calls that can be open at once."""

_ALL_TURNS = 2**62
"""The call is over: every turn of it counts as interrupted."""


class Table(Protocol):
    """A fixed row of integers."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def __getitem__(self, index: int, /) -> int:
        """Read one."""
        ...

    def __setitem__(self, index: int, value: int, /) -> None:
        """Write one."""
        ...


def shared_table() -> Table:
    """A table in shared memory; give it to ``multiprocessing.Process`` of the spawn context."""
    return cast("Table", get_context("spawn").RawArray("q", SLOTS))


class InterruptedThrough:
    """Slots of a table, one an open call."""

    def __init__(self, table: Table | None = None) -> None:
        """Use ``table``; None = a table of this process."""
        self._table: Table = [0] * SLOTS if table is None else table
        self._free = deque(range(len(self._table)))

    def take(self) -> int:
        """Take a free slot, in which no turn is interrupted.

        Raises:
            RuntimeError: every slot is taken.
        """
        if not self._free:
            raise RuntimeError("too many calls are open")
        slot = self._free.popleft()
        self._table[slot] = 0
        return slot

    def give_back(self, slot: int) -> None:
        """The call is over. The slot is taken again as late as can be, for the sake of tools that
        still look at it.
        """
        self._table[slot] = _ALL_TURNS
        self._free.append(slot)

    def raise_interrupted(self, slot: int, message: ToRuntime) -> None:
        """Write what a message says about interruptions; a slot never goes down."""
        match message:
            case InterruptTurn(turn=turn):
                self._table[slot] = max(self._table[slot], turn)
            case CloseCall():
                self._table[slot] = _ALL_TURNS
            case _:
                pass

    def read(self, slot: int) -> int:
        """The highest interrupted turn of a slot's call."""
        return self._table[slot]
