"""The planner's own questions, where the project has written none.

Owns their wording. They come after an answer or an excuse, or alone.
"""

import json
from typing import cast

from runtime.agent import Json
from runtime.models.offline.fields import spoken_name, wants_yes_no
from runtime.models.offline.plan import Plan, Scene, joined, says
from runtime.models.situation import AskedField, PendingQuestion

__all__ = [
    "argument_values",
    "ask_next",
    "confirmation_question",
    "digits_wrong",
    "field_question",
    "with_question",
]

_MOST_OPTIONS = 4
_MOST_DETAILS = 4
_MOST_DETAIL = 40
_MOST_QUESTION = 300


def with_question(scene: Scene, line: str) -> Plan:
    """Say a line and what is still to be asked, if the engine does not ask it by itself."""
    question = ask_next(scene)
    return says(f"{line} {question}".strip())


def ask_next(scene: Scene) -> str:
    """The question that is the model's to put now; empty where there is none."""
    situation = scene.situation
    if situation.pending is not None:
        held = situation.pending
        return confirmation_question(scene, held) if held.question is None else ""
    if situation.collecting is not None and situation.question is None:
        return field_question(scene, situation.collecting)
    return ""


def field_question(scene: Scene, field: AskedField) -> str:
    """Ask for a field: its description where that is a question, else by its name."""
    written = " ".join(field.description.split())
    if written.endswith("?") and len(written) <= _MOST_QUESTION:
        return written
    name, lines = spoken_name(field), scene.lines
    labels = tuple(option.label for option in field.choices)
    if 0 < len(labels) <= _MOST_OPTIONS:
        return lines.ask_choice.format(name=name, options=joined(labels, lines.joint))
    if wants_yes_no(field):
        return lines.ask_yes_no.format(name=name)
    return lines.ask.format(name=name)


def confirmation_question(scene: Scene, held: PendingQuestion) -> str:
    """Ask for a held call: what it does, and the short ones of its arguments."""
    details = ", ".join(_details(held.arguments))
    return scene.lines.ask_confirmation.format(
        action=" ".join(held.tool.replace("_", " ").split()),
        details=f", {details}" if details else "",
    )


def digits_wrong(scene: Scene, heard: int, wanted: int | None) -> str:
    """Say how many digits were heard, and how many are wanted."""
    line = scene.lines.digit_wrong if heard == 1 else scene.lines.digits_wrong
    return line.format(heard=heard, wanted=wanted)


def argument_values(arguments: str) -> dict[str, str | int | float]:
    """The arguments of a held call that are words or numbers, by name."""
    try:
        read = cast(Json, json.loads(arguments))
    except (ValueError, RecursionError):
        return {}
    return {
        name: value
        for name, value in (read.items() if isinstance(read, dict) else ())
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }


def _details(arguments: str) -> list[str]:
    found: list[str] = []
    for name, value in argument_values(arguments).items():
        words = " ".join(name.replace("_", " ").split())
        shown = " ".join(str(value).replace("_", " ").split())
        is_key = words.casefold().split()[-1:] in (["id"], ["key"], ["token"])
        if shown and not is_key and len(shown) <= _MOST_DETAIL and not set(shown) & set("{}[]<>"):
            found.append(f"{words} {shown}")
    return found[:_MOST_DETAILS]
