"""Checks of responses that need all memory: names that must exist, values that must fit.

Owns the checks of values in texts, of conditions, and of buttons that write. That a source of
buttons is a tool is ``checks``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from runtime.conversation.memory import accepts, coerced
from runtime.project.model import PROJECT_NAMESPACE, MemoryField
from runtime.project.placed_conditions import FieldView, PlacedCondition, check_condition
from runtime.project.problems import Problems, listed, nearest
from runtime.project.response_model import Response, StaticButton, ValuePart, Variant
from runtime.project.responses_file import written_target

__all__ = ["SAID_BY_ENGINE", "check_responses", "response_remarks"]

SAID_BY_ENGINE = frozenset(
    {
        "utter_confirmation_declined",
        "utter_hangup_goodbye",
        "utter_model_call_error",
        "utter_precondition_unmet",
        "utter_session_notice",
        "utter_session_start",
        "utter_set_memory_button_skipped",
        "utter_silence_check_in_1",
        "utter_silence_check_in_2",
        "utter_silence_check_in_3",
        "utter_skill_cancelled",
    }
)
"""Names that are said although no skill names them."""


def check_responses(responses: Mapping[str, Response], view: FieldView, problems: Problems) -> None:
    """Check the responses of one file against the declared memory.

    Args:
        responses: What the file says.
        view: The memory as the file's skill sees it; of the project's file, as any skill does.
        problems: Grows by what is wrong, each at its place.
    """
    for response in responses.values():
        for variant in response.variants:
            _check_variant(variant, view, problems)


def _check_variant(variant: Variant, view: FieldView, problems: Problems) -> None:
    for part in variant.parts:
        if isinstance(part, ValuePart):
            _check_value(part, view, problems)
    if variant.condition is not None:
        placed = PlacedCondition(variant.condition, variant.condition_place)
        check_condition(placed, view, problems)
    if isinstance(variant.buttons, tuple):
        for button in variant.buttons:
            _check_button(button, view, problems)


def _check_value(part: ValuePart, view: FieldView, problems: Problems) -> None:
    if part.namespace == "system":
        problems.add(
            part.place,
            "unknown_field",
            f"'session.system.{part.name}' is for conditions and can't be said",
            "name a memory field",
        )
    elif part.namespace:
        view.check(part.namespace, part.name, part.place, problems)
    elif view.bare(part.name) is None:
        problems.add(
            part.place,
            "unknown_field",
            f"'{{{part.name}}}' is no memory field of "
            + (f"the skill '{view.skill}' or of the project" if view.skill else "this project"),
            view.bare_mend(part.name),
        )


# ------------------------------------------------------------------ buttons that write


def _check_button(button: StaticButton, view: FieldView, problems: Problems) -> None:
    target = written_target(button.payload)
    if target is None:
        return
    namespace, name, value = target
    if namespace == "system":
        problems.add(
            button.place, "not_writable", "'session.system.…' is the engine's own", "name a field"
        )
        return
    field = view.field(namespace, name)
    if field is None or not view.can_read(field):
        view.check(namespace, name, button.place, problems)
    elif view.skill is not None and namespace not in (view.skill, PROJECT_NAMESPACE):
        problems.add(
            button.place,
            "not_writable",
            f"the button '{button.title}' writes 'session.{namespace}.{name}', which is another "
            "skill's field",
            f"write a field of '{view.skill}' or of the project",
        )
    elif not accepts(field, coerced(field, value)):
        problems.add(
            button.place,
            "wrong_type",
            f"the button '{button.title}' writes '{value}', and 'session.{namespace}.{name}' takes "
            + _wanted(field),
            "change the value or the field's type",
        )


def _wanted(field: MemoryField) -> str:
    if field.type == "categorical":
        return listed(field.enum_values)
    return {"bool": "true or false", "int": "a whole number", "float": "a number"}.get(
        field.type, f"a {field.type}"
    )


# ------------------------------------------------------------------ no error, still worth a look


def response_remarks(
    responses: Iterable[Response], used: Collection[str] | None = None
) -> Iterator[str]:
    """Responses that may say nothing, variants that are never said, names that look mistyped.

    Args:
        responses: What an author wrote.
        used: Names that some skill uses; None = not known, and names are not looked at.
    """
    for response in responses:
        conditions = [variant.condition for variant in response.variants]
        if None not in conditions:
            yield (
                f"{response.place}: '{response.name}' says nothing when none of its conditions "
                "holds (add a variant without one to always say something)"
            )
        for at, variant in enumerate(response.variants):
            if variant.condition is not None and variant.condition in conditions[:at]:
                yield (
                    f"{variant.place}: this variant of '{response.name}' is never said, since one "
                    "above has the same condition"
                )
        near = nearest(response.name, SAID_BY_ENGINE, cutoff=0.85)
        is_said = used is None or response.name in used or response.name in SAID_BY_ENGINE
        if near and not is_said:
            yield (
                f"{response.place}: nothing says '{response.name}' (did you mean '{near}', which "
                "the engine says?)"
            )
