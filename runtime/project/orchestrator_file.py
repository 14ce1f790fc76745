"""Reads ``orchestrator:`` of ``agent.yml``: which models are asked, what they are told, what gates.

Owns the keys below it. Whether the group and the resolvers exist is checked across files.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.conditions import Condition
from runtime.project.fields import Fields
from runtime.project.model import BuiltinConstraint, Orchestrator, Precondition
from runtime.project.placed_conditions import NEVER, PlacedCondition, read_condition
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Sequence

__all__ = ["BUILTIN_NAMES", "DEFAULT_GROUP", "OrchestratorPart", "read_orchestrator"]

DEFAULT_GROUP = "default"
"""The group that a Maestro project's one model is, and that its agent uses."""

BUILTIN_NAMES = frozenset(
    {
        "activate",
        "cancel_skill",
        "cannot_help",
        "complete_skill",
        "correct",
        "hang_up",
        "listen",
        "resolve_tool_confirmation",
        "search_knowledge",
        "set_fields",
    }
)
"""The engine's own tools, as an author may constrain them."""

_CONFIRMABLE = "cancel_skill"
_MOST_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True)
class OrchestratorPart:
    """What stands below ``orchestrator``."""

    settings: Orchestrator
    model_group: str
    """Empty after a problem."""
    model_group_place: Place
    conditions: tuple[PlacedCondition, ...]


def read_orchestrator(
    fields: Fields, problems: Problems, *, needs_group: bool = True
) -> OrchestratorPart:
    """Read the section; without ``needs_group``, a missing one is ``DEFAULT_GROUP``."""
    entry = fields.entry("model_group")
    if needs_group or entry is not None:
        model_group = fields.required_text("model_group")
    else:
        model_group = DEFAULT_GROUP
    conditions: list[PlacedCondition] = []
    settings = Orchestrator(
        max_prompt_tokens=fields.whole(
            "max_prompt_tokens", Orchestrator().max_prompt_tokens, least=1, most=_MOST_TOKENS
        ),
        text_rules=_rules(fields, "text_rules"),
        voice_rules=_rules(fields, "voice_rules"),
        preconditions=_preconditions(fields.section("preconditions"), conditions, problems),
        builtin=_builtin(fields.section("tool_constraints"), problems),
    )
    fields.done()
    return OrchestratorPart(
        settings, model_group, entry.value.place if entry else fields.place, tuple(conditions)
    )


def _rules(fields: Fields, key: str) -> tuple[str, ...] | None:
    """A list of rules or one text; an empty list is a wish of its own: no rules."""
    match fields.node(key):
        case None:
            return None
        case Sequence():
            return fields.texts(key)
        case _:
            text = fields.text(key)
            return None if text is None else (text,)


# ------------------------------------------------------------------ preconditions


def _preconditions(
    fields: Fields, conditions: list[PlacedCondition], problems: Problems
) -> dict[str, Precondition]:
    found: dict[str, Precondition] = {}
    for entry in fields.keys():
        one = Fields(entry.value, problems, fields.path(entry.key), entry.place, "resolve_with")
        satisfied_when = _satisfied_when(one, conditions, problems)
        resolver = one.entry("resolve_with")
        found[entry.key] = Precondition(
            name=entry.key,
            satisfied_when=satisfied_when,
            resolve_with=one.required_text("resolve_with"),
            says_unmet=one.flag("unmet_utterance", True),
            place=resolver.value.place if resolver else entry.place,
        )
        one.done()
    return found


def _satisfied_when(
    fields: Fields, conditions: list[PlacedCondition], problems: Problems
) -> Condition:
    """One that is not right never holds; the name stays known to the skills that use it."""
    entry = fields.entry("satisfied_when")
    if entry is None:
        fields.problem(
            fields.place,
            "missing_key",
            f"'{fields.path('satisfied_when')}' is missing",
            "add 'satisfied_when: session.project.…'",
        )
        return NEVER
    placed = read_condition(entry.value, problems)
    if placed is None:
        return NEVER
    conditions.append(placed)
    return placed.condition


# ------------------------------------------------------------------ the engine's own tools


def _builtin(fields: Fields, problems: Problems) -> Mapping[str, BuiltinConstraint]:
    found: dict[str, BuiltinConstraint] = {}
    for entry in fields.keys():
        path = fields.path(entry.key)
        if entry.key not in BUILTIN_NAMES:
            close = nearest(entry.key, BUILTIN_NAMES)
            problems.add(
                entry.place,
                "unknown_tool",
                f"'{path}': the engine has no tool of that name",
                f"did you mean '{close}'?"
                if close
                else f"write {listed(sorted(BUILTIN_NAMES))}; a skill's own tools are constrained "
                "in its skill.md",
            )
            continue
        one = Fields(entry.value, problems, path, entry.place, "enabled")
        found[entry.key] = BuiltinConstraint(
            enabled=one.flag("enabled", True),
            invoke_when=one.text("invoke_when"),
            requires_confirmation=_requires_confirmation(one, entry.key),
        )
        one.done()
    return found


def _requires_confirmation(fields: Fields, tool: str) -> bool:
    """True or false, or ``{enabled: …}`` as in a skill's own constraints."""
    key = "requires_confirmation"
    entry = fields.entry(key)
    if entry is None:
        return False
    if isinstance(entry.value, MappingNode):
        inner = fields.section(key)
        wanted = inner.flag("enabled", False)
        inner.done()
    else:
        wanted = fields.flag(key, False)
    if wanted and tool != _CONFIRMABLE:
        fields.problem(
            entry.place,
            "misplaced_key",
            f"'{fields.path(key)}': only '{_CONFIRMABLE}' can be confirmed",
            "take it away",
        )
        return False
    return wanted
