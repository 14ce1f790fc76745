"""Reads ``scenarios/*.yml``: all scenarios, or every problem of all files at once.

Owns the top of a file and its set-up. The caller's lines are ``caller_reader``, the expectations
``expect_reader``; how YAML is read, and what a problem looks like, is ``runtime.project``.
"""

import re
from collections.abc import Mapping as MappingABC
from pathlib import Path
from typing import Final, Literal, cast

from runtime.agent import Json
from runtime.errors import Place, ProjectError
from runtime.project.fields import Fields
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Mapping, Node, Scalar, as_json
from runtime.project.yaml_source import MAX_BYTES, read_yaml
from voice.replay.scenarios.caller_reader import read_caller
from voice.replay.scenarios.expect_reader import read_expectations
from voice.replay.scenarios.model import ModelScript, Says, Scenario, Seed, Taps, Types
from voice.replay.scenarios.names import NameChecks, Names
from voice.replay.starts import WALL_START, StartError, parse_date, parse_start

__all__ = ["FOLDER", "find_files", "read_scenario", "read_scenarios"]

FOLDER: Final = "scenarios"
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_MOST_STAY_MS: Final = 600_000
_LEAST_LIMIT_MS: Final = 1000
_MOST_LIMIT_MS: Final = 7_200_000
_MOST_METADATA_CHARS: Final = 4000


def find_files(root: Path) -> tuple[Path, ...]:
    """Return the scenario files of the project in ``root``, by name."""
    folder = root / FOLDER
    return tuple(sorted((*folder.rglob("*.yml"), *folder.rglob("*.yaml"))))


def read_scenarios(
    files: tuple[Path, ...],
    root: Path,
    names: Names | None,
    env: MappingABC[str, str],
) -> tuple[Scenario, ...]:
    """Read and check files.

    Args:
        files: the files, in the order in which they are to be run.
        root: the project's folder; messages name files relative to it.
        names: what the project has; None = it can't be loaded, so no name is looked at.
        env: fills ``${VAR}``.

    Raises:
        ProjectError: with every problem of every file.
    """
    problems = Problems()
    found: list[Scenario] = []
    first: dict[str, str] = {}
    for path in files:
        name = _named(path, root)
        data = _bytes(path, name, problems)
        if data is None:
            continue
        scenario = read_scenario(data, name, path.parent, names, problems, env)
        if scenario.name and scenario.name in first:
            problems.add(
                scenario.place,
                "duplicate_name",
                f"another scenario has this name; it is in {first[scenario.name]}",
                "give each a name of its own",
            )
        first.setdefault(scenario.name, name)
        found.append(scenario)
    if problems.found:
        raise ProjectError(problems.found)
    return tuple(found)


def read_scenario(
    data: bytes,
    file: str,
    folder: Path,
    names: Names | None,
    problems: Problems,
    env: MappingABC[str, str],
) -> Scenario:
    """Read one file; what is wrong goes into ``problems``.

    Args:
        data: the file.
        file: how messages name it.
        folder: where the sounds it names are looked for.
        names: what the project has; None = it can't be loaded, so no name is looked at.
        problems: takes what is wrong.
        env: fills ``${VAR}``.
    """
    top = Fields(read_yaml(data, file, problems, env), problems, "", Place(file))
    name = top.required_text("name")
    name_entry = top.entry("name")
    checks = NameChecks(names, problems)
    caller = read_caller(top.items("caller"), folder, problems, checks)
    needs_web = any(isinstance(act.what, Types | Taps) for act in caller)
    scenario = Scenario(
        name=name,
        file=file,
        place=name_entry.value.place if name_entry else Place(file),
        language=_language(top),
        metadata=_metadata(top),
        channel=_channel(top, needs_web),
        seeds=_seeds(top, checks),
        model=_model(top, problems, checks),
        caller=caller,
        expect=read_expectations(top.items("expect"), problems, checks),
        stay_ms=top.seconds_ms("stay", 3000, _MOST_STAY_MS),
        limit_ms=_limit_ms(top),
        wall_start=_wall_start(top),
    )
    top.done()
    _check_ears(scenario, problems)
    return scenario


def _named(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return str(path)


def _bytes(path: Path, name: str, problems: Problems) -> bytes | None:
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "it is no file")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problems.add(Place(name), "unreadable", f"the file can't be read: {reason}", "name another")
        return None


def _language(top: Fields) -> str | None:
    language, entry = top.text("language"), top.entry("language")
    if language is not None and entry is not None and not _LANGUAGE.fullmatch(language):
        top.problem(
            entry.value.place, "unknown_value", f"'{language}' is no language", "write en or de-CH"
        )
    return language


def _limit_ms(top: Fields) -> int:
    limit_ms, entry = top.seconds_ms("limit", 600_000, _MOST_LIMIT_MS), top.entry("limit")
    if entry is not None and limit_ms < _LEAST_LIMIT_MS:
        top.problem(
            entry.value.place,
            "out_of_range",
            "'limit' is so short that no call can happen",
            f"write {_LEAST_LIMIT_MS // 1000} to {_MOST_LIMIT_MS // 1000} seconds",
        )
    return limit_ms


def _wall_start(top: Fields) -> float:
    """When the call happens: ``date`` or ``starts_at``."""
    found = WALL_START
    day, starts_at = top.text("date"), top.text("starts_at")
    for key, text, parse in (("date", day, parse_date), ("starts_at", starts_at, parse_start)):
        entry = top.entry(key)
        if text is None or entry is None:
            continue
        try:
            found = parse(text)
        except StartError as error:
            top.problem(entry.value.place, "bad_date", f"'{key}': {error}")
    both = top.entry("starts_at")
    if day is not None and starts_at is not None and both is not None:
        top.problem(
            both.place,
            "duplicate_key",
            "'starts_at' says the day as well as 'date'",
            "keep one of them",
        )
    return found


def _metadata(top: Fields) -> tuple[tuple[str, str], ...]:
    """What the channel would send: texts by name, as they are written."""
    section = top.section("metadata")
    found: list[tuple[str, str]] = []
    for entry in section.keys():
        match entry.value:
            case Scalar(text=text) if len(text) <= _MOST_METADATA_CHARS:
                found.append((entry.key, text))
            case Scalar():
                section.problem(
                    entry.value.place,
                    "too_long",
                    f"'{section.path(entry.key)}' has more than {_MOST_METADATA_CHARS} characters",
                    "shorten it",
                )
            case _:
                section.problem(
                    entry.value.place,
                    "wrong_type",
                    f"'{section.path(entry.key)}' must be a text: a channel sends nothing else",
                    "write one value, in quotes where it looks like a number",
                )
    return tuple(found)


def _channel(top: Fields, needs_web: bool) -> Literal["twilio", "web"]:
    entry = top.entry("channel")
    written = top.choice("channel", ("twilio", "web"), "web" if needs_web else "twilio")
    if entry is not None and needs_web and written == "twilio":
        top.problem(
            entry.value.place,
            "wrong_channel",
            "nobody types or taps on a phone line",
            "write 'channel: web', or take the line with 'type' or 'tap' away",
        )
    return cast("Literal['twilio', 'web']", written)


def _check_ears(scenario: Scenario, problems: Problems) -> None:
    """Words that only the script knows can't be heard by the embedded STT."""
    if not scenario.needs_ears:
        return
    for act in scenario.caller:
        if isinstance(act.what, Says):
            problems.add(
                act.place,
                "mixed_caller",
                "'say' has no real voice, and another line's recording is heard by the real "
                "speech-to-text",
                "give the lines with 'audio' their 'words', or record this one too",
            )


# ------------------------------------------------------------------ setup


def _seeds(top: Fields, checks: NameChecks) -> tuple[Seed, ...]:
    setup = top.section("setup")
    found: list[Seed] = []
    for entry in setup.section("memory").keys():
        field = checks.field(entry.key, entry.place)
        value = checks.value(entry, entry.key, field)
        if field is not None:
            found.append(Seed(field.namespace, field.name, value))
    setup.done()
    return tuple(found)


def _model(top: Fields, problems: Problems, checks: NameChecks) -> ModelScript | None:
    if top.node("model") is None:
        return None
    section = top.section("model")
    section.choice("provider", ("scripted",), "scripted")
    repeat_last = section.flag("repeat_last", False)
    items = section.items("steps")
    steps = [step for item in items if (step := _step(item, problems, checks)) is not None]
    section.done()
    if not items:
        section.problem(
            section.place,
            "missing_key",
            "'model.steps' is missing",
            "list what the model answers, or leave 'model' out for the project's own",
        )
    return ModelScript(tuple(steps), repeat_last)


def _step(item: Node, problems: Problems, checks: NameChecks) -> dict[str, Json] | None:
    from runtime.models.scripted_model import parse_steps  # few scenarios have a script

    step = as_json(item)
    try:
        if not isinstance(step, dict):
            raise ValueError("a step is a block of keys")
        parse_steps([step])
    except ValueError as error:
        problems.add(
            item.place,
            "bad_step",
            f"the step can't be read: {error}",
            "write say: <text>, call: {name: …, arguments: {…}}, wait: <seconds> or "
            "fail: <message>",
        )
        return None
    match step.get("call"):
        case str(name) | {"name": str(name)}:
            checks.called(name, _place_of(item, "call", "name"))
        case _:
            pass
    return step


def _place_of(node: Node, *keys: str) -> Place:
    """Where the value of nested keys stands, as deep as they were written."""
    for key in keys:
        entry = node.get(key) if isinstance(node, Mapping) else None
        if entry is None:
            break
        node = entry.value
    return node.place
