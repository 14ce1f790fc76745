"""Reads ``scenarios/*.yml``: all scenarios, or every problem of all files at once.

Owns the top of a file and its set-up. The caller's lines are ``caller_reader``, the expectations
``expect_reader``; how YAML is read, and what a problem looks like, is ``runtime.project``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from runtime.agent import Json
from runtime.errors import Place, ProjectError
from runtime.models.scripted_model import parse_steps
from runtime.project.fields import Fields
from runtime.project.problems import Problems, nearest
from runtime.project.yaml_nodes import (
    Entry,
    Node,
    Scalar,
    Sequence,
    as_bool,
    as_int,
    as_json,
    as_number,
)
from runtime.project.yaml_source import MAX_BYTES, read_yaml
from voice.replay.scenarios.caller_reader import read_caller
from voice.replay.scenarios.expect_reader import read_expectations
from voice.replay.scenarios.model import ModelScript, Says, Scenario, Seed, Taps, Types

if TYPE_CHECKING:
    from runtime.project.model import MemoryField

__all__ = ["FOLDER", "find_files", "read_scenario", "read_scenarios", "typed"]

FOLDER: Final = "scenarios"
_MOST_STAY_MS: Final = 600_000
_MOST_LIMIT_MS: Final = 7_200_000
_MOST_METADATA_CHARS: Final = 4000


def find_files(root: Path) -> tuple[Path, ...]:
    """Return the scenario files of the project in ``root``, by name."""
    folder = root / FOLDER
    return tuple(sorted((*folder.rglob("*.yml"), *folder.rglob("*.yaml"))))


def read_scenarios(
    files: tuple[Path, ...],
    root: Path,
    memory: tuple["MemoryField", ...],
    env: Mapping[str, str],
) -> tuple[Scenario, ...]:
    """Read and check files.

    Args:
        files: the files, in the order in which they are to be run.
        root: the project's folder; messages name files relative to it.
        memory: the fields that the project declares.
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
        scenario = read_scenario(data, name, path.parent, memory, problems, env)
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
    memory: tuple["MemoryField", ...],
    problems: Problems,
    env: Mapping[str, str],
) -> Scenario:
    """Read one file; what is wrong goes into ``problems``.

    Args:
        data: the file.
        file: how messages name it.
        folder: where the sounds it names are looked for.
        memory: the fields that the project declares.
        problems: takes what is wrong.
        env: fills ``${VAR}``.
    """
    top = Fields(read_yaml(data, file, problems, env), problems, "", Place(file))
    name = top.required_text("name")
    name_entry = top.entry("name")
    caller = read_caller(top.items("caller"), folder, problems)
    needs_web = any(isinstance(act.what, Types | Taps) for act in caller)
    scenario = Scenario(
        name=name,
        file=file,
        place=name_entry.value.place if name_entry else Place(file),
        language=top.text("language"),
        metadata=_metadata(top),
        channel=_channel(top, needs_web),
        seeds=_seeds(top, memory, problems),
        model=_model(top, problems),
        caller=caller,
        expect=read_expectations(top.items("expect"), problems),
        stay_ms=top.seconds_ms("stay", 3000, _MOST_STAY_MS),
        limit_ms=top.seconds_ms("limit", 600_000, _MOST_LIMIT_MS),
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
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problems.add(Place(name), "unreadable", f"the file can't be read: {reason}", "name another")
        return None


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


def _seeds(top: Fields, memory: tuple["MemoryField", ...], problems: Problems) -> tuple[Seed, ...]:
    setup = top.section("setup")
    section = setup.section("memory")
    known = {f"{field.namespace}.{field.name}": field for field in memory}
    found: list[Seed] = []
    for entry in section.keys():
        field = known.get(entry.key)
        if field is None:
            close = nearest(entry.key, known)
            problems.add(
                entry.place,
                "unknown_memory",
                f"the project has no memory field '{entry.key}'",
                f"did you mean '{close}'?" if close else "write <skill>.<field> or project.<field>",
            )
            continue
        if _fits(entry, field, problems):
            found.append(Seed(field.namespace, field.name, typed(entry.value, field)))
    setup.done()
    return tuple(found)


def _fits(entry: Entry, field: "MemoryField", problems: Problems) -> bool:
    node = entry.value
    is_null = isinstance(node, Scalar) and node.is_null
    if is_null or typed(node, field) is not None:
        return True
    wanted = {
        "categorical": "one of " + ", ".join(field.enum_values),
        "bool": "true or false",
        "list": "a list",
    }.get(field.type, f"a {field.type}")
    problems.add(
        node.place, "wrong_type", f"'{entry.key}' must be {wanted}", f"the field is {field.type}"
    )
    return False


def typed(node: Node, field: "MemoryField") -> Json:
    """Return a written value in the field's type; None when it is empty or does not fit."""
    if isinstance(node, Scalar) and node.is_null:
        return None
    match field.type, node:
        case "text", Scalar(text=text):
            return text
        case "categorical", Scalar(text=text):
            return text if text in field.enum_values else None
        case "bool", Scalar():
            return as_bool(node)
        case "int", Scalar():
            return as_int(node)
        case "float", Scalar():
            number = as_number(node)
            return None if number is None else float(number)
        case ("list", Sequence()) | (("json" | "any"), _):
            return as_json(node)
        case _:
            return None


def _model(top: Fields, problems: Problems) -> ModelScript | None:
    if top.node("model") is None:
        return None
    section = top.section("model")
    section.choice("provider", ("scripted",), "scripted")
    repeat_last = section.flag("repeat_last", False)
    steps: list[dict[str, Json]] = []
    items = section.items("steps")
    for item in items:
        step = as_json(item)
        try:
            if not isinstance(step, dict):
                raise ValueError("a step is a block of keys")
            parse_steps([step])
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            problems.add(
                item.place,
                "bad_step",
                f"the step can't be read: {error}",
                "write say: <text>, call: {name: …, arguments: {…}}, wait: <seconds> or "
                "fail: <message>",
            )
        else:
            steps.append(step)
    section.done()
    if not items:
        section.problem(
            section.place,
            "missing_key",
            "'model.steps' is missing",
            "list what the model answers, or leave 'model' out for the project's own",
        )
    return ModelScript(tuple(steps), repeat_last)
