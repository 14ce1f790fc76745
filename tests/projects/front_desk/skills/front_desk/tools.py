"""The front desk's tools: one slow look-up, one booking that must never happen twice.

A tool is an ``async def`` with ``@tool(description=…)``. Its arguments are what the model fills;
``context`` is put in by the runtime. When the caller talks over the agent, the tool is cancelled at
its current ``await``: read ``find_appointment`` for one that may simply stop, and
``book_appointment`` for one that may not.
"""

import asyncio
import json
import os
from pathlib import Path

from runtime import ToolContext, ToolResult, tool

SLOTS = {
    "thu-1030": ("Thursday", "half past ten in the morning", "Doctor Osei"),
    "mon-0815": ("Monday", "a quarter past eight in the morning", "Doctor Lindqvist"),
    "tue-1600": ("Tuesday", "four in the afternoon", "Doctor Osei"),
}
"""The clinic's free slots. A real project would ask its calendar."""

LEDGER_VARIABLE = "HARBOUR_CLINIC_LEDGER"
"""Names a file that bookings are appended to; without it they are kept in this process."""

_bookings: list[dict[str, str]] = []


@tool(
    description=(
        "Find the next free appointment. `when` is what the caller said about day or time, in "
        "their words; leave it out if they said nothing."
    ),
    # Said when the look-up takes longer than `fillers.after`, before the project's own phrases.
    filler="Let me look through the calendar.",
)
async def find_appointment(when: str = "", context: ToolContext = None) -> ToolResult:
    """Look for a slot; takes three seconds, like calendars do."""
    await asyncio.sleep(2.0)
    if when:
        # Spoken at once, past the model. Dropped if the caller has taken the floor meanwhile.
        await context.send("I'm comparing two days.")
    await asyncio.sleep(1.0)
    # Nothing to clean up here: a cancellation at either `await` just ends the look-up.
    slot = _best_slot(when)
    context.memory.set("offered_slot", slot)
    day, time, doctor = SLOTS[slot]
    return ToolResult(llm_response={"slot": slot, "day": day, "time": time, "doctor": doctor})


@tool(description="Book a slot that find_appointment returned and the caller agreed to.")
async def book_appointment(slot: str, context: ToolContext = None) -> ToolResult:
    """Write the booking: from the commit section on it happens, whoever talks."""
    if slot not in SLOTS:
        return ToolResult(llm_response={"error": "there is no such slot"})
    if context.is_cancelled:
        # The caller has just said something. Nothing has happened yet, so leave it at that.
        return ToolResult(llm_response={"error": "not booked, the caller interrupted"})
    async with context.committing():
        # In here a cancellation waits: the sound stops at once, the booking is finished, and the
        # next turn knows about it. Keep such sections short, and put nothing else in them.
        await asyncio.sleep(1.0)
        booking = _write(slot, context.memory.get("caller_name", ""), context.idempotency_key)
    day, time, doctor = SLOTS[slot]
    return ToolResult(
        llm_response={"number": booking["number"], "day": day, "time": time, "doctor": doctor}
    )


def _best_slot(when: str) -> str:
    wish = when.lower()
    if "afternoon" in wish or "tuesday" in wish or "later" in wish:
        return "tue-1600"
    if "monday" in wish or "eight" in wish or "8" in wish or "early" in wish:
        return "mon-0815"
    return "thu-1030"


def _write(slot: str, name: str, key: str) -> dict[str, str]:
    """Append the booking, unless this very booking stands there already.

    ``context.idempotency_key`` is the same whenever the same wish is carried out again, after an
    interruption, a timeout or a restart. A backend that knows such keys does this check for you.
    """
    bookings = _read()
    for booking in bookings:
        if booking["key"] == key:
            return booking
    booking = {"key": key, "slot": slot, "name": name, "number": str(1001 + len(bookings))}
    path = os.environ.get(LEDGER_VARIABLE)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(booking, ensure_ascii=False) + "\n")
    else:
        _bookings.append(booking)
    return booking


def _read() -> list[dict[str, str]]:
    path = os.environ.get(LEDGER_VARIABLE)
    if not path:
        return _bookings
    file = Path(path)
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
