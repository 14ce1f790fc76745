"""Requests of one round, for tests of the planner's rules."""

from typing import Any, cast

from runtime.agent import Expect, Json
from runtime.models.offline.plan import MadeCall, Plan, Scene
from runtime.models.offline.planner import plan
from runtime.models.ports import ToolSpec
from runtime.models.situation import (
    AskedField,
    ChoiceOption,
    FlowOption,
    PendingQuestion,
    Situation,
)

REPLACE = FlowOption(
    "card_replace",
    "Replace a card",
    "Replace a credit card that is lost, stolen, damaged, or never arrived.",
    ("I lost my card", "my card was stolen", "I need a new card"),
)
STATUS = FlowOption(
    "card_status",
    "How an order is coming along",
    "Say where the replacement card is that the caller has ordered.",
    ("where is my new card", "what about my order"),
)
PERSON = FlowOption(
    "hand_over",
    "Talk to a person",
    "Put the caller through to someone at the bank.",
    ("can I speak to someone", "give me an agent"),
)
FLOWS = (REPLACE, STATUS, PERSON)

REASON = AskedField(
    "reason",
    "categorical",
    choices=tuple(
        ChoiceOption(value.replace("_", " "), value)
        for value in ("lost", "stolen", "never_arrived")
    ),
)
SHIPPING = AskedField(
    "shipping",
    "categorical",
    choices=(ChoiceOption("standard", "standard"), ChoiceOption("express", "express")),
)
CARD = AskedField(
    "card",
    "text",
    choices=tuple(
        ChoiceOption(label, label)
        for label in ("gold card 4421", "silver card 4400", "gold card 9")
    ),
)
NUMBER = AskedField("customer_number", "text", "Their number.", Expect("digits", 6))
YEAR = AskedField("project.birth_year", "int", "The year they were born in.")
NAME = AskedField("name", "text", "The caller's name.")
WISHES = AskedField("wishes", "text", "What else they want.")
INSURED = AskedField("insured", "bool", "Whether it is insured.")
HELD = PendingQuestion(
    "order_card", "So I order it by standard post. Shall I go ahead?", True, '{"card_id": "c1"}'
)

_ALWAYS = ("listen", "hang_up", "cancel_skill", "resolve_tool_confirmation", "complete_skill")


def scene(
    said: str = "",
    *,
    without: tuple[str, ...] = (),
    made: tuple[MadeCall, ...] = (),
    is_nudged: bool = False,
    **given: Any,
) -> Scene:
    """A scene in which the tools are on offer that fit its situation, as the engine's are."""
    if made and "round" not in given:
        given["round"] = len(made) + 1
    situation = Situation(said=said, **given)
    offered = {name: spec for name, spec in _tools(situation).items() if name not in without}
    return Scene(situation=situation, offered=offered, made=made, is_nudged=is_nudged)


def decide(said: str = "", **given: Any) -> Plan:
    """What all the rules together decide."""
    return plan(scene(said, **given))


def called(decided: Plan) -> list[tuple[str, dict[str, Json]]]:
    """The calls of a plan."""
    return [(call.tool, dict(call.arguments)) for call in decided.calls]


def _tools(situation: Situation) -> dict[str, ToolSpec]:
    found = {name: _spec(name, {}) for name in _ALWAYS}
    is_busy = situation.collecting is not None or situation.pending is not None
    if is_busy:
        del found["listen"]
    if situation.skill is None:
        del found["cancel_skill"], found["complete_skill"]
    if situation.pending is None or not situation.pending.may_answer:
        del found["resolve_tool_confirmation"]
    else:
        found["resolve_tool_confirmation"] = _spec("resolve_tool_confirmation", {"confirmed": {}})
    if situation.flows:
        ids = cast("list[Json]", [flow.id for flow in situation.flows])
        found["activate"] = _spec("activate", {"flow_id": {"enum": ids}})
    settable = {f.name: cast("Json", {}) for f in situation.settable}
    if situation.collecting is not None:
        settable.setdefault(situation.collecting.name, {})
    if settable:
        found["set_fields"] = _spec("set_fields", settable)
    if situation.correctable:
        names = cast("list[Json]", [f.name for f in situation.correctable])
        found["correct"] = _spec("correct", {"memory_key": {"enum": names}, "value": {}})
    if situation.has_knowledge:
        found["search_knowledge"] = _spec("search_knowledge", {"query": {}})
    if not situation.has_knowledge or situation.passages is not None:
        found["cannot_help"] = _spec("cannot_help", {"in_domain": {}})
    return found


def _spec(name: str, properties: dict[str, Json]) -> ToolSpec:
    return ToolSpec(name, "", {"type": "object", "properties": properties})
