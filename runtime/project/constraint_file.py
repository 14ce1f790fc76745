"""Reads ``tool_constraints``, ``utter``, ``access`` and ``complete_when`` of a skill's frontmatter.

Owns the keys below them. The other keys of the frontmatter are ``skill_file``'s.
"""

from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.skill_model import (
    Access,
    CompleteWhen,
    Confirmation,
    ToolConstraint,
    UtterRule,
)
from runtime.project.skill_scope import Scope
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Node, Scalar, Sequence

__all__ = ["read_access", "read_complete_when", "read_constraints", "read_utters"]


# ------------------------------------------------------------------ tool_constraints


def read_constraints(top: Fields, scope: Scope) -> dict[str, ToolConstraint]:
    """Read the list of one-key maps, tool → what guards it."""
    found: dict[str, ToolConstraint] = {}
    for tool, inner, place in _one_key_maps(top, "tool_constraints", "lock_card", scope):
        scope.tool(tool, place)
        first = found.get(tool)
        if first is not None:
            scope.refuse(
                place,
                "duplicate_key",
                f"the tool '{tool}' is constrained twice; first at {first.place}",
                "write both in one entry",
            )
        fields = Fields(inner, scope.problems, tool, place)
        found[tool] = ToolConstraint(
            tool=tool,
            requires=scope.condition_key(fields, "requires"),
            confirmation=_confirmation(fields, scope),
            on_success=scope.response_key(fields, "on_success"),
            on_failure=scope.response_key(fields, "on_failure"),
            place=place,
        )
        fields.done()
        if first is None and isinstance(inner, Scalar) and inner.is_null:
            scope.refuse(
                place,
                "no_effect",
                f"nothing is said of the tool '{tool}'",
                "write 'requires: …' or another constraint below it, or take the entry away",
            )
    return found


def _confirmation(fields: Fields, scope: Scope) -> Confirmation | None:
    node = fields.node("requires_confirmation")
    if node is not None and not isinstance(node, MappingNode):
        scope.refuse(
            node.place,
            "wrong_type",
            f"'{fields.path('requires_confirmation')}' must be a block of keys",
            "write 'requires_confirmation: {enabled: true}'",
        )
        return None
    section = fields.section("requires_confirmation")
    enabled = section.flag("enabled", False)
    question = scope.response_key(section, "utter_for_confirmation")
    denial = scope.response_key(section, "utter_on_user_denial")
    section.done()
    return Confirmation(question, denial) if enabled else None


# ------------------------------------------------------------------ utter


def read_utters(top: Fields, scope: Scope) -> tuple[UtterRule, ...]:
    """Read the responses that are said by themselves."""
    found: list[UtterRule] = []
    for name, inner, place in _one_key_maps(top, "utter", "utter_welcome", scope):
        before = len(scope.problems.found)
        scope.response(name, place)
        fields = Fields(inner, scope.problems, name, place)
        on_activate = fields.entry("on") is not None
        fields.choice("on", ("activate",), "activate")
        has_when = fields.entry("when") is not None
        when = scope.condition_key(fields, "when")
        if not on_activate and not has_when:
            fields.problem(
                place,
                "missing_key",
                f"nothing says when '{name}' is said",
                "add 'on: activate' or 'when: <condition>'",
            )
        fields.done()
        rule = UtterRule(name, on_activate, when)
        if rule in found and len(scope.problems.found) == before:
            scope.refuse(
                place,
                "duplicate_value",
                f"'{name}' is listed twice for the same moment",
                "keep one of them",
            )
        found.append(rule)
    return tuple(found)


def _one_key_maps(
    top: Fields, key: str, example: str, scope: Scope
) -> list[tuple[str, Node, Place]]:
    """Read a list of maps with one key each as (key, what is below it, its place)."""
    node = top.node(key)
    found: list[tuple[str, Node, Place]] = []
    if node is not None and not isinstance(node, Sequence):
        scope.refuse(
            node.place,
            "wrong_type",
            f"'{key}' must be a list",
            f"begin each entry with '- ', as in '- {example}:'",
        )
        return found
    for item in top.items(key):
        if isinstance(item, MappingNode) and len(item.entries) == 1:
            entry = item.entries[0]
            found.append((entry.key, entry.value, entry.place))
            continue
        scope.refuse(
            item.place,
            "wrong_type",
            f"each entry of '{key}' has one key, the name, and the rest below it",
            f"write '- {example}:' and what belongs to it in the lines below, further in",
        )
    return found


# ------------------------------------------------------------------ complete_when


def read_complete_when(top: Fields, scope: Scope) -> CompleteWhen:
    """Read a condition, or a block of ``condition`` and ``criteria``."""
    entry = top.entry("complete_when")
    if entry is None:
        return CompleteWhen()
    if not isinstance(entry.value, MappingNode):
        return CompleteWhen(scope.condition(entry.value))
    section = top.section("complete_when")
    condition = scope.condition_key(section, "condition")
    criteria = section.texts("criteria")
    section.done()
    if not criteria and all(item.key == "criteria" for item in entry.value.entries):
        scope.refuse(
            entry.place,
            "no_effect",
            "'complete_when' says nothing",
            "write a condition, or 'criteria:' for the model, or take it away",
        )
    return CompleteWhen(condition, criteria)


# ------------------------------------------------------------------ access


def read_access(top: Fields, scope: Scope) -> Access:
    """Read what tools of the skill may not touch; names become qualified."""
    section = top.section("access")
    read = _names(section, "deny_read", scope)
    write = _names(section, "deny_write", scope)
    section.done()
    return Access(read, write)


def _names(section: Fields, key: str, scope: Scope) -> frozenset[str]:
    found: set[str] = set()
    section.texts(key)  # for the problems of entries that are no texts
    for node in section.items(key) if isinstance(section.node(key), Sequence) else ():
        if isinstance(node, Scalar) and node.text.strip():
            field = scope.field_named(node.text.strip(), node.place)
            found |= {f"{field.namespace}.{field.name}"} if field is not None else set()
    return frozenset(found)
