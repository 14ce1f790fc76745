"""Reads the caller's lines of a scenario, and when each begins.

Owns the keys of a line and the three ways to write ``at``; ``voice.replay.at`` owns what a moment
is.
"""

import re
from pathlib import Path
from typing import Final

from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Mapping, Node, Scalar, as_bool, as_number
from voice.replay.at import ANCHORS, At, AtError, parse_at
from voice.replay.scenarios.model import Act, CallerAct, HangsUp, Presses, Says, Sounds, Taps, Types
from voice.replay.scenarios.names import NameChecks

__all__ = ["CALLER_TURN", "DEFAULT_AT", "read_caller"]

CALLER_TURN: Final = "caller_turn"
"""The anchor of a line without ``at``: the agent has ended, or nothing more of it is to come."""
DEFAULT_AT: Final = At(CALLER_TURN, 600.0)

_ACTS: Final = ("say", "audio", "noise", "keys", "type", "tap", "hang_up")
_KEYS: Final = frozenset("0123456789*#ABCD")
_TOOL_ANCHORS: Final = ("tool_starts", "tool_ends")
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:-[A-Za-z_]\w*)*")
_MOST_OFFSET_MS: Final = 86_400_000
_MOST_LINES: Final = 1000


def read_caller(
    items: tuple[Node, ...], folder: Path, problems: Problems, checks: NameChecks
) -> tuple[CallerAct, ...]:
    """Read all lines; sounds are looked for in ``folder``, tools by ``checks``."""
    if len(items) > _MOST_LINES:
        problems.add(
            items[_MOST_LINES].place,
            "too_many",
            f"a caller has at most {_MOST_LINES} lines",
            "make several scenarios",
        )
        return ()
    lines = [Fields(item, problems, f"caller[{n}]", item.place) for n, item in enumerate(items, 1)]
    names = [_own_name(fields, problems) for fields in lines]
    first: dict[str, Place] = {}
    for name, fields in zip(names, lines, strict=True):
        if name and name in first:
            fields.problem(
                fields.place,
                "duplicate_name",
                f"another line is called '{name}'; at {first[name]}",
                "give each line a name of its own",
            )
        elif name:
            first[name] = fields.place
    known = tuple(name for name in names if name)
    found: list[CallerAct] = []
    for number, (name, fields) in enumerate(zip(names, lines, strict=True), 1):
        act = _act(fields, folder)
        at = _at(fields, known, checks)
        fields.done()
        if act is not None:
            found.append(CallerAct(act, at, name or f"line {number}", fields.place))
    return tuple(found)


def _own_name(fields: Fields, problems: Problems) -> str:
    name = fields.text("as", "")
    entry = fields.entry("as")
    if not name or entry is None:
        return ""
    if name in ANCHORS or name == CALLER_TURN or not _NAME.fullmatch(name):
        problems.add(
            entry.value.place,
            "bad_name",
            f"a line can't be called '{name}'",
            "use letters, digits and '_', and none of " + ", ".join(ANCHORS),
        )
        return ""
    return name


# ------------------------------------------------------------------ what is done


def _act(fields: Fields, folder: Path) -> Act | None:
    written = [key for key in _ACTS if fields.entry(key) is not None]
    if len(written) != 1:
        message = (
            "a line does one thing, this one does " + " and ".join(written)
            if written
            else "this line does nothing"
        )
        fields.problem(fields.place, "bad_line", message, f"write one of {listed(_ACTS)}")
        return None
    key = written[0]
    if key in ("say", "audio", "noise"):
        level = fields.number("level_db", -60.0, 20.0) or 0.0
    else:
        level = 0.0
    match key:
        case "say":
            text = fields.required_text(key)
            return Says(text, level) if text else None
        case "audio" | "noise":
            words = fields.text("words") if key == "audio" else None
            path = _sound(fields, key, folder)
            return Sounds(path, words, key == "audio", level) if path else None
        case "keys":
            return _keys(fields)
        case "type":
            text = fields.required_text(key)
            return Types(text) if text else None
        case "tap":
            text = fields.required_text(key)
            return Taps(text) if text else None
        case _:
            return _hang_up(fields)


def _sound(fields: Fields, key: str, folder: Path) -> Path | None:
    name = fields.required_text(key)
    entry = fields.entry(key)
    if not name or entry is None:
        return None
    path = folder / name
    if not path.is_file():
        near = nearest(name, [p.name for p in folder.iterdir()] if folder.is_dir() else [])
        fields.problem(
            entry.value.place,
            "missing_file",
            f"there is no file '{name}' beside the scenario",
            f"did you mean '{near}'?" if near else "name it relative to the scenario's folder",
        )
        return None
    return path if _can_be_played(path, name, fields, entry.value.place) else None


def _can_be_played(path: Path, name: str, fields: Fields, place: Place) -> bool:
    from runtime.errors import AudioError
    from voice.audio.files import read_sound  # slow to import, and few scenarios have a recording

    try:
        read_sound(path)
    except AudioError as error:
        fields.problem(
            place,
            "bad_sound",
            f"'{name}' can't be played: {str(error).removeprefix(f'{path}: ')}",
            "name a WAV, FLAC, Ogg or AIFF file with one channel",
        )
        return False
    return True


def _keys(fields: Fields) -> Presses | None:
    keys = fields.required_text("keys").upper()
    entry = fields.entry("keys")
    if not keys or entry is None:
        return None
    if not _KEYS.issuperset(keys):
        fields.problem(
            entry.value.place, "bad_keys", "keys are 0-9, *, # and A-D", 'write them as "4711#"'
        )
        return None
    return Presses(keys)


def _hang_up(fields: Fields) -> HangsUp | None:
    entry = fields.entry("hang_up")
    if entry is not None and isinstance(entry.value, Scalar) and as_bool(entry.value) is True:
        return HangsUp()
    fields.problem(fields.place, "wrong_type", "'hang_up' can only be true", "write hang_up: true")
    return None


# ------------------------------------------------------------------ when


def _at(fields: Fields, names: tuple[str, ...], checks: NameChecks) -> At:
    match fields.node("at"):
        case None:
            return DEFAULT_AT
        case Scalar() as scalar if (seconds := as_number(scalar)) is not None:
            if 0 <= seconds * 1000 <= _MOST_OFFSET_MS:
                return At(None, float(seconds) * 1000)
            fields.problem(
                scalar.place,
                "out_of_range",
                f"'{fields.path('at')}' must lie after the connect, within a day",
                "write seconds, such as 4.5",
            )
        case Scalar() as scalar:
            try:
                return _once(parse_at(scalar.text, (*names, CALLER_TURN)), names)
            except AtError as error:
                fields.problem(scalar.place, "bad_at", str(error))
        case Mapping():
            return _at_block(fields.section("at"), names, checks)
        case other:
            fields.problem(
                other.place,
                "wrong_type",
                f"'{fields.path('at')}' must be a moment",
                "write 4.5, agent_starts+1200ms or {after: agent_starts, ms: 1200}",
            )
    return DEFAULT_AT


def _at_block(block: Fields, names: tuple[str, ...], checks: NameChecks) -> At:
    after = block.required_text("after")
    entry = block.entry("after")
    offset = block.number("ms", 0.0, float(_MOST_OFFSET_MS)) or 0.0
    has_nth = block.node("nth") is not None
    nth = block.whole("nth", 1, least=1, most=10_000) if has_nth else None
    tool = block.text("tool")
    tool_entry = block.entry("tool")
    block.done()
    anchors = (*ANCHORS, CALLER_TURN)
    if after and entry is not None and after not in anchors and after not in names:
        close = nearest(after, (*anchors, *names))
        block.problem(
            entry.value.place,
            "unknown_value",
            f"'{after}' is no moment of a call",
            f"did you mean '{close}'?" if close else f"write {listed((*anchors, *names))}",
        )
        return DEFAULT_AT
    if tool is not None and tool_entry is not None:
        if after not in _TOOL_ANCHORS:
            block.problem(
                tool_entry.place,
                "unknown_key",
                f"'{after}' is about no tool",
                "take 'tool' away, or write tool_starts or tool_ends",
            )
            return DEFAULT_AT
        checks.tool(tool, tool_entry.value.place)
        after = f"{after}:{tool}"
    return _once(At(after, offset, nth), names) if after else DEFAULT_AT


def _once(at: At, names: tuple[str, ...]) -> At:
    """A line comes once: counted from its own end, wherever it stands in the list."""
    return At(at.anchor, at.offset_ms, 1) if at.anchor in names else at
