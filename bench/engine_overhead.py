"""Measure what the engine itself costs and print it as one JSON line.

    python -m bench.engine_overhead [--calls 60] [--check]

Owns three figures on ``examples/card_desk``: computing time of a turn with a model that answers at
once (CPU time of the loop's thread; tools wait in virtual time), loading a stored conversation of
10,000 events, and validating the project, in process and as a command (wall time, the fastest of a
few: what else the machine does is not ours). With ``--check`` the exit code is 1 when one is over
its budget.
"""

import argparse
import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from runtime.agent import (
    CallReady,
    FromRuntime,
    Input,
    OpenCall,
    Say,
    SayEnd,
    SaySettled,
    SayText,
    StartTurn,
    TurnEnded,
)
from runtime.conversation.events import Event
from runtime.engine.record import ConversationRecord
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Part, ScriptedModel
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from runtime.project.loader import load
from runtime.project.model import Project
from runtime.store.memory_store import MemoryStore
from runtime.store.sqlite_store import SqliteStore
from voice.replay.virtual_loop import run_virtual

_ROOT: Final = Path(__file__).resolve().parent.parent
_PROJECT: Final = _ROOT / "examples" / "card_desk"
_ANSWERS: Final = {
    "customer_number": "472913",
    "birth_year": "1984",
    "selected_card_label": "the gold card",
    "replacement_reason": "lost",
    "shipping": "express",
}
_TURNS: Final = 8
"""Of one call: the greeting, the wish, five answers, the yes."""
_EVENTS: Final = 10_000
BUDGETS_MS: Final = {
    "turn_p95": 5.0,
    "load_10000": 200.0,
    "validate": 500.0,
    "validate_command": 500.0,
}


def _answer(request: ChatRequest) -> Part:
    """Start the skill, give one answer a turn, say yes; say nothing else."""
    situation = request.situation
    if situation.round > 1:
        return Write("")
    if situation.pending is not None:
        return Call("resolve_tool_confirmation", {"confirmed": True})
    if situation.collecting is not None:
        name = situation.collecting.name
        return Call("set_fields", {name: _ANSWERS[name]})
    return Call("activate", {"flow_id": "card_replace"})


class _Caller:
    """The voice plane's side: hears everything at once, and takes the time of each turn."""

    def __init__(self, project: Project, store: MemoryStore) -> None:
        model = ScriptedModel([_answer], repeat_last=True)
        self._agent = InLoopAgent(project, models=[model], store=store)
        self._slot = self._agent.attach(1, self._take)
        self._says: dict[int, tuple[int, int]] = {}
        self._ready, self._ended = asyncio.Event(), asyncio.Event()
        self._began = 0.0
        self.conversation = ""
        self.turns_ms: list[float] = []

    async def play(self, turns: int) -> None:
        """One call of so many turns."""
        opening = OpenCall(1, None, "phone", "en", (), 1_700_000_000.0, self._slot)
        self._agent.send(opening)
        await self._ready.wait()
        for turn in range(1, turns + 1):
            said = None if turn == 1 else Input("speech", "What the caller says in this turn.")
            self._ended.clear()
            self._began = time.thread_time()
            self._agent.send(StartTurn(1, turn, "input" if said else "opened", said))
            await self._ended.wait()
            for say, (number, chars) in self._says.items():
                self._agent.send(SaySettled(1, number, say, "heard", chars))
            self._says.clear()
            await asyncio.sleep(5)
        await self._agent.aclose()

    def _take(self, message: FromRuntime) -> None:
        match message:
            case CallReady():
                self.conversation = message.conversation
                self._ready.set()
            case Say():
                self._says[message.say] = (message.turn, 0)
            case SayText():
                turn, chars = self._says[message.say]
                self._says[message.say] = (turn, chars + len(message.text))
            case TurnEnded():
                self.turns_ms.append((time.thread_time() - self._began) * 1000)
                self._ended.set()
            case SayEnd() | _:
                pass


def _turns_ms(project: Project, calls: int) -> list[float]:
    """The computing time of every turn, ms; the first calls warm up and don't count."""
    found: list[float] = []

    async def one(counts: bool) -> None:
        caller = _Caller(project, MemoryStore())
        await caller.play(_TURNS)
        if counts:
            found.extend(caller.turns_ms)

    for number in range(calls + 5):
        run_virtual(one(number >= 5))
    return found


def _long_conversation(project: Project) -> list[Event]:
    """The events of one conversation that goes on and on."""

    async def record() -> list[Event]:
        store = MemoryStore()
        caller = _Caller(project, store)
        await caller.play(_EVENTS // 8)
        return await store.load(caller.conversation)

    events = run_virtual(record())
    if len(events) < _EVENTS:
        raise RuntimeError(f"the conversation has only {len(events)} events")
    return [replace(event, conversation="long") for event in events[:_EVENTS]]


def _load_ms(project: Project) -> list[float]:
    """Reading and folding them, from a file, each time with a fresh connection."""
    events = _long_conversation(project)

    async def measure() -> list[float]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.db"
            store = SqliteStore(path)
            await store.append(events)
            await store.aclose()
            found: list[float] = []
            for _ in range(7):
                store = SqliteStore(path)
                began = time.perf_counter()
                past = await store.load("long")
                record = ConversationRecord("long", past, lambda _: None)
                found.append((time.perf_counter() - began) * 1000)
                assert record.state.sequence == _EVENTS
                await store.aclose()
            return found

    return asyncio.run(measure())


def _times_ms(do: Callable[[], object], times: int) -> list[float]:
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        do()
        found.append((time.perf_counter() - began) * 1000)
    return found


def _command() -> None:
    program = Path(sys.executable).parent / "bargein"
    subprocess.run([program, "validate", _PROJECT], check=True, capture_output=True)


def _at(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], 2)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--check", action="store_true", help="exit 1 when over a budget")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    project = load(_PROJECT, {})
    turns = _turns_ms(project, arguments.calls)
    loads = _load_ms(project)
    in_process = _times_ms(lambda: load(_PROJECT, {}), 7)
    as_command = _times_ms(_command, 5)
    found = {
        "turns": len(turns),
        "turn_p50": _at(turns, 0.5),
        "turn_p95": _at(turns, 0.95),
        "turn_max": _at(turns, 1.0),
        "load_10000": _at(loads, 0.0),
        "validate": _at(in_process, 0.0),
        "validate_command": _at(as_command, 0.0),
    }
    over = [name for name, budget in BUDGETS_MS.items() if found[name] > budget]
    sys.stdout.write(json.dumps({**found, "unit": "ms", "over": over}) + "\n")
    if arguments.check and over:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
