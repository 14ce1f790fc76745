"""What is on offer at this moment: flows, tools, fields, the question that is being asked.

Owns the reading of live state into one record; the prompt writes it as words, the offline planner
reads it as data (``runtime.models.situation``).
"""

from dataclasses import dataclass

from runtime.agent import Expect
from runtime.conversation.dialogue import BlockPlace, Frame
from runtime.conversation.memory import MemorySchema, masked, value_of
from runtime.conversation.prompt_history import heard_text
from runtime.conversation.state import CallMade, ConversationState, Message
from runtime.engine.builtin import Offer, builtin_tools, settable_name
from runtime.engine.confirming import Confirming
from runtime.engine.desk import Desk
from runtime.engine.gates import open_tools
from runtime.engine.menu import narrowed
from runtime.engine.responses import Responses
from runtime.engine.scope import TurnScope
from runtime.engine.stack import Flow, Stack
from runtime.models.ports import ToolSpec
from runtime.models.situation import (
    AskedField,
    ChoiceOption,
    FlowOption,
    PendingQuestion,
    Situation,
)
from runtime.project.model import MemoryField
from runtime.project.skill_model import CollectStep, InstructStep, Skill, Step, ToolStep
from runtime.tools.definition import ToolDef

__all__ = ["Moment", "moment_of", "situation_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What the model may do now, and where the dialogue stands."""

    frame: Frame | None
    skill: Skill | None
    place: BlockPlace | None
    step: Step | None
    flows: dict[str, Flow]
    tools: tuple[ToolDef, ...]
    """Of the active skill, with their gates open."""
    builtin: dict[str, ToolSpec]
    settable: tuple[MemoryField, ...]
    correctable: tuple[MemoryField, ...]
    collecting: MemoryField | None
    question: str | None
    """The engine's line for it."""
    is_held: bool
    may_resolve: bool
    is_stale: bool
    """The caller's words came before they had heard the held call's question."""
    cut_off: str = ""
    """The active step's tool whose call was stopped, or agreed to and never begun."""
    held_tool: str = ""
    held_arguments: str = "{}"
    held_question: str | None = None

    @property
    def in_prose(self) -> bool:
        """Whether the skill's free prose is followed."""
        return self.skill is not None and self.place is None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Everything the model may call."""
        own = (ToolSpec(t.name, t.description, t.parameters) for t in self.tools)
        return (*own, *self.builtin.values())


def moment_of(
    desk: Desk, stack: Stack, confirming: Confirming, responses: Responses, scope: TurnScope
) -> Moment:
    """Read the live state."""
    frame = desk.top
    skill = desk.skill_of(frame)
    place = frame.place if frame is not None else None
    step = _step(skill, place)
    schema = desk.schema
    searched = scope.passages is not None
    settable = schema.settable(skill.id) if skill is not None else ()
    collecting = schema.field(step.namespace, step.field) if isinstance(step, CollectStep) else None
    stored = desk.state.memory
    correctable = tuple(
        f for f in settable if f is not collecting and stored.get((f.namespace, f.name)) is not None
    )
    held = confirming.is_in_front
    is_stale = confirming.is_stale(scope)
    may_resolve = confirming.was_asked and not (is_stale or confirming.is_asked(scope))
    made = confirming.call if held else None
    flows = _offered(desk, stack.flows(), scope)
    offer = Offer(
        flows=tuple(flows),
        has_skill=skill is not None and not skill.engine_managed,
        in_prose=skill is not None and place is None,
        settable=settable,
        correctable=correctable,
        is_held=held,
        may_resolve=may_resolve,
        has_searched=searched,
        is_collecting=collecting is not None,
        is_maestro=desk.project.dialect == "maestro",
        has_index=desk.project.index is not None,
        constraints=desk.project.orchestrator.builtin,
    )
    cut_off = _cut_off(desk, step, place)
    own = open_tools(skill, desk.reader(skill.id)) if skill is not None and not searched else []
    # What the step calls again is not the model's to call as well.
    own = [tool for tool in own if tool.name != cut_off]
    utterance = step.utterance if isinstance(step, CollectStep) else None
    return Moment(
        frame=frame,
        skill=skill,
        place=place,
        step=step,
        flows=flows,
        tools=tuple(own),
        builtin=builtin_tools(offer),
        settable=settable,
        correctable=correctable,
        collecting=collecting,
        question=None if utterance is None else responses.wording(utterance),
        is_held=held,
        may_resolve=may_resolve,
        is_stale=is_stale and not confirming.is_asked(scope),
        held_tool=made.tool if made is not None else "",
        held_arguments=_held_arguments(desk, made),
        held_question=confirming.wording,
        cut_off=cut_off,
    )


def _offered(desk: Desk, flows: dict[str, Flow], scope: TurnScope) -> dict[str, Flow]:
    """The flows on the menu: what the skill's prose names and what waits is on every one."""
    kept = {frame.skill for frame in desk.state.dialogue.frames}.union(desk.project.before_end)
    kept.update(flow.id for flow in flows.values() if flow.is_reference)
    names = narrowed(flows, scope.menu, kept)
    return {name: flow for name, flow in flows.items() if name in names}


def _cut_off(desk: Desk, step: Step | None, place: BlockPlace | None) -> str:
    if place is None or place.call_id is None or not isinstance(step, ToolStep):
        return ""
    made = desk.state.tool_call(place.call_id)
    agreed = place.confirmed and made is not None and made.outcome is None and not made.started
    return step.tool if agreed or place.outcome == "cancelled" else ""


def _held_arguments(desk: Desk, made: CallMade | None) -> str:
    return "{}" if made is None else masked(desk.schema, desk.state, made.arguments)


def _step(skill: Skill | None, place: BlockPlace | None) -> Step | None:
    block = skill.block(place.block) if skill is not None and place is not None else None
    if block is None or place is None or place.step is None:
        return None
    return block.step(place.step)


def situation_of(
    desk: Desk, moment: Moment, scope: TurnScope, state: ConversationState, *, prose: str, day: str
) -> Situation:
    """The same as data.

    Args:
        desk: The call.
        moment: What is on offer.
        scope: The turn.
        state: The conversation, with the caller's words of this turn in it.
        prose: The visible prose of the skill, or the step's instructions, as text.
        day: Today, as an ISO date.
    """
    said = scope.input
    step = moment.step
    return Situation(
        said=said.text if said is not None and not scope.is_taken else "",
        kind=said.kind if said is not None else None,
        round=scope.round,
        language=desk.opening.language or desk.project.language,
        today=day,
        flows=tuple(_flow(desk, flow) for flow in moment.flows.values()),
        skill=moment.skill.name if moment.skill is not None else None,
        in_prose=moment.in_prose or isinstance(step, InstructStep),
        has_returned=moment.frame is not None and moment.frame.has_returned,
        prose=prose,
        collecting=_collecting(desk, moment),
        question=moment.question,
        settable=tuple(_asked(desk, moment, f, moment.settable) for f in moment.settable),
        correctable=tuple(_asked(desk, moment, f, moment.correctable) for f in moment.correctable),
        pending=_pending(moment),
        passages=scope.passages,
        has_knowledge=desk.project.index is not None,
        last_line=_last_line(state),
        just_done=tuple(scope.just_done),
        refused=scope.refused.reason if scope.refused is not None else None,
        refused_by_author=scope.refused is not None and scope.refused.by_author,
        step_cancelled=moment.cut_off,
    )


def _flow(desk: Desk, flow: Flow) -> FlowOption:
    skill = desk.project.skills[flow.skill]
    if flow.block is not None:
        return FlowOption(flow.id, flow.block.replace("_", " "), "", is_reference=True)
    return FlowOption(flow.id, skill.name, skill.description, skill.examples, flow.is_reference)


def _pending(moment: Moment) -> PendingQuestion | None:
    if not moment.is_held:
        return None
    return PendingQuestion(
        moment.held_tool, moment.held_question, moment.may_resolve, moment.held_arguments
    )


def _collecting(desk: Desk, moment: Moment) -> AskedField | None:
    step, field = moment.step, moment.collecting
    if not isinstance(step, CollectStep) or field is None:
        return None
    among = moment.settable if field in moment.settable else (*moment.settable, field)
    asked = _asked(desk, moment, field, among)
    buttons = _button_choices(desk.schema, desk.state, field)
    return AskedField(
        asked.name,
        asked.type,
        step.description or asked.description,
        step.expect,
        buttons or asked.choices,
        asked.value,
    )


def _asked(
    desk: Desk, moment: Moment, field: MemoryField, among: tuple[MemoryField, ...]
) -> AskedField:
    choices = tuple(ChoiceOption(v.replace("_", " "), v) for v in field.enum_values)
    offered = desk.state.offered.get(f"{field.namespace}.{field.name}", ())
    choices = choices or tuple(ChoiceOption(b.title, b.payload) for b in offered)
    value = None if field.pii else value_of(desk.state, field)
    return AskedField(
        settable_name(field, among),
        field.type,
        field.description or "",
        _expected(moment.skill, field),
        choices=choices,
        value=value,
    )


def _expected(skill: Skill | None, field: MemoryField) -> Expect:
    """What an answer for the field looks like, wherever in the skill it is asked for."""
    for block in skill.blocks if skill is not None else ():
        for step in block.steps:
            if isinstance(step, CollectStep) and step.field == field.name:
                if step.namespace == field.namespace:
                    return step.expect
    return Expect()


def _button_choices(
    schema: MemorySchema, state: ConversationState, field: MemoryField
) -> tuple[ChoiceOption, ...]:
    """The buttons that answer the question for this field."""
    own = f"session.{field.namespace}.{field.name}"
    return tuple(
        ChoiceOption(b.title, b.payload) for b in state.buttons if b.ref is None or b.ref == own
    )


def _last_line(state: ConversationState) -> str:
    for item in reversed(state.history):
        if isinstance(item, Message):
            text = heard_text(item, interrupted=item.turn in state.interrupted)
            if text:
                return item.text.strip()
    return ""
