"""What is left to say after calls of this turn, and in a turn without words.

Owns the rules for what was refused and for outcomes that nobody has told the caller yet.
"""

from runtime.models.offline.asking import ask_next, with_question
from runtime.models.offline.plan import Plan, Scene, says

__all__ = ["after_refusal", "nothing_said", "outcome", "rest"]


def after_refusal(scene: Scene) -> Plan | None:
    """Say that it can't be, and ask again: the same words would be refused again.

    Of a batch the engine keeps the values that were not refused, so there is nothing to try anew.
    """
    if scene.situation.refused is None:
        return None
    last = scene.made[-1] if scene.made else None
    match last.tool if last is not None else "":
        case "set_fields":
            line = scene.lines.not_taken
        case "correct":
            line = scene.lines.not_changed
        case _:
            line = scene.lines.not_possible
    return with_question(scene, line)


def nothing_said(scene: Scene) -> Plan | None:
    """Nobody spoke: only a question that is the model's to put is put."""
    if scene.said:
        return None
    question = ask_next(scene)
    return says(scene.lines.what_else if scene.is_nudged and not question else question)


def outcome(scene: Scene) -> Plan | None:
    """Tell what the answer to a held call came to, where nothing of the project did."""
    if not scene.is_nudged:
        return None
    last = scene.made[-1] if scene.made else None
    if last is None or last.tool != "resolve_tool_confirmation" or ask_next(scene):
        return None
    if scene.situation.collecting is not None:
        return None
    if last.arguments.get("confirmed") is not True:
        return says(scene.lines.declined)
    if not scene.situation.just_done:
        return None
    match scene.situation.just_done[-1][1]:
        case "ok":
            return says(scene.lines.done)
        case "failed":
            return says(scene.lines.failed)
        case _:
            return says(scene.lines.uncertain)


def rest(scene: Scene) -> Plan | None:
    """Later rounds: put the question that is due, else leave it to the engine."""
    if scene.is_first:
        return None
    question = ask_next(scene)
    if question or not scene.is_nudged:
        return says(question)
    return says(scene.lines.noted if scene.situation.skill is not None else scene.lines.what_else)
