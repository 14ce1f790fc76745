"""Reads one step of an ordered block, whatever its kind.

Owns the keys that each kind of step has. Ids and what follows what are ``block_file``; names are
checked through ``skill_scope``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runtime.agent import Expect, Json
from runtime.conversation.memory import accepts
from runtime.errors import Place
from runtime.project.answer_file import read_expect, read_keys
from runtime.project.conditions import Condition, parse_reference
from runtime.project.fields import Fields
from runtime.project.model import MemoryField
from runtime.project.problems import listed, nearest
from runtime.project.prose_tokens import Finder, check_tokens, read_prose_text
from runtime.project.skill_model import (
    END,
    ActionStep,
    Branch,
    CallStep,
    CollectStep,
    InstructStep,
    LinkStep,
    NoopStep,
    SetStep,
    Step,
    ToolStep,
    ValueRef,
)
from runtime.project.skill_scope import Scope
from runtime.project.tool_parameters import check_parameters
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Node, Scalar, as_bool, as_json
from runtime.project.yaml_nodes import Sequence as SequenceNode

__all__ = ["Head", "StepReader"]

_ACTIONS = ("action_listen", "hangup", "transfer")
_REFERENCE = re.compile(r"(?<![\w.])session\.\w+\.\w+")


def _names_field(node: Node) -> bool:
    match node:
        case Scalar(text=text):
            return _REFERENCE.search(text) is not None
        case SequenceNode(items=items):
            return any(map(_names_field, items))
        case MappingNode(entries=entries):
            return any(_names_field(entry.value) for entry in entries)


@dataclass(frozen=True, slots=True)
class Head:
    """What every step has."""

    id: str
    next: tuple[Branch, ...]
    place: Place


class StepReader:
    """Reads the steps of one block."""

    def __init__(self, scope: Scope, lines: Sequence[str], first_line: int) -> None:
        """Read for ``scope``; ``lines`` are the block as written, from ``first_line`` on."""
        self._scope = scope
        self._lines = lines
        self._first_line = first_line
        self._kinds: Mapping[str, Callable[[Fields, Head], Step | None]] = {
            "instructions": self._instruct,
            "collect": self._collect,
            "action": self._action,
            "execute_tool": self._tool,
            "noop": self._noop,
            "set_memory": self._set,
            "call": self._call,
            "link": self._link,
        }

    def kind_of(self, fields: Fields, node: Node) -> str | None:
        """The one thing that a step does; None after a problem."""
        kinds = [kind for kind in self._kinds if fields.has(kind)]
        if len(kinds) == 1:
            return kinds[0]
        if kinds:
            self._scope.refuse(
                node.place,
                "bad_step",
                f"a step does one thing, and this one has {listed(kinds).replace(' or ', ' and ')}",
                "make a step of each",
            )
            return None
        entries = node.entries if isinstance(node, MappingNode) else ()
        for entry in entries:
            meant = nearest(entry.key, self._kinds)
            if meant is not None and entry.key not in ("id", "next"):
                self._scope.refuse(
                    entry.place,
                    "unknown_key",
                    f"unknown key 'step.{entry.key}'",
                    f"did you mean '{meant}'?",
                )
                return None
        self._scope.refuse(
            node.place,
            "bad_step",
            "this step does nothing",
            f"write one of {listed(self._kinds)}; a step that only routes has 'noop: true'",
        )
        return None

    def read(self, kind: str, fields: Fields, head: Head) -> Step | None:
        """Read the keys of its kind; None after a problem that leaves no step."""
        return self._kinds[kind](fields, head)

    # ---------------------------------------------------------------- talking

    def _instruct(self, fields: Fields, head: Head) -> Step:
        entry = fields.entry("instructions")
        place = entry.value.place if entry is not None else head.place
        locate = Finder(self._lines, self._first_line, place)
        text = read_prose_text(fields.required_text("instructions"), locate, self._scope.problems)
        check_tokens(text, self._scope)
        return InstructStep(
            id=head.id,
            next=head.next,
            place=head.place,
            instructions=text.parts,
            complete_when=self._scope.condition_key(fields, "complete_when"),
            optional=fields.flag("optional", False),
        )

    def _collect(self, fields: Fields, head: Head) -> Step | None:
        written, place = self._named(fields, "collect", head)
        field = self._scope.writable(written, place) if written else None
        keys = read_keys(fields, self._scope)
        expect = read_expect(fields, field, keys)
        step = CollectStep(
            id=head.id,
            next=head.next,
            place=head.place,
            namespace=field.namespace if field is not None else self._scope.skill,
            field=field.name if field is not None else written,
            utterance=self._scope.response_key(fields, "utterance"),
            description=fields.text("description"),
            ask_before_filling=fields.flag("ask_before_filling", False),
            keys=keys,
            expect=expect if expect is not None else Expect(),
        )
        return step if written else None

    def _action(self, fields: Fields, head: Head) -> Step | None:
        action, place = self._named(fields, "action", head)
        kind: Literal["utter", "listen", "hang_up", "transfer"]
        target = ""
        match action:
            case "":
                return None
            case "action_listen":
                kind = "listen"
            case "hangup":
                kind = "hang_up"
            case "transfer":
                kind, target = "transfer", fields.required_text("to")
            case _ if action.startswith("utter_"):
                kind, target = "utter", action
                self._scope.response(action, place)
            case _:
                responses = self._scope.known.responses or ()
                self._scope.action(action, place, [*_ACTIONS, *responses])
                fields.entry("to")
                return None
        return ActionStep(id=head.id, next=head.next, place=head.place, kind=kind, target=target)

    # ---------------------------------------------------------------- doing

    def _tool(self, fields: Fields, head: Head) -> Step | None:
        tool, place = self._named(fields, "execute_tool", head)
        if tool:
            self._scope.tool(tool, place)
        listing = fields.node("parameters")
        is_empty = isinstance(listing, MappingNode) and not listing.entries
        example = "<parameter>: <value>"
        written = () if is_empty else self._block_of_keys(fields, "parameters", example).keys()
        problems, known = self._scope.problems, self._scope.known
        before = len(problems.found)
        given = [(item, self._parameter(item.value, fields)) for item in written]
        definition = (known.tools or {}).get(tool) if known.memory is not None else None
        if definition is not None and len(problems.found) == before:
            check_parameters(definition, given, known.fields, place, problems)
        step = ToolStep(
            id=head.id,
            next=head.next,
            place=head.place,
            tool=tool,
            parameters=tuple((item.key, value) for item, value in given),
        )
        return step if tool else None

    def _parameter(self, node: Node, fields: Fields) -> "Json | ValueRef":
        """A literal, or a memory field's value."""
        fields.refuse_grouped(node)
        value = as_json(node)
        if not isinstance(value, str) or not value.strip().startswith("session."):
            self._refuse_within(node)
            return value
        reference = parse_reference(value)
        if reference is None:
            self._scope.refuse(
                node.place,
                "bad_value",
                f"'{value.strip()}' is not a field",
                "write session.<skill>.<field> or session.project.<field>",
            )
            return value
        self._scope.readable(*reference, node.place)
        return ValueRef(*reference)

    def _refuse_within(self, node: Node) -> None:
        """A field's value is taken only where its name is all that is written."""
        match node:
            case Scalar(text=text) if _REFERENCE.search(text):
                self._scope.refuse(
                    node.place,
                    "bad_value",
                    "a field stands alone as a value, here it would stay the words themselves",
                    "pass the field as a parameter of its own, and let the tool put it in",
                )
            case SequenceNode(items=items):
                for item in items:
                    self._refuse_within(item)
            case MappingNode(entries=entries):
                for entry in entries:
                    self._refuse_within(entry.value)
            case _:
                pass

    def _noop(self, fields: Fields, head: Head) -> Step:
        node = fields.node("noop")
        if not isinstance(node, Scalar) or as_bool(node) is not True:
            place = node.place if node is not None else head.place
            self._scope.refuse(place, "wrong_type", "'step.noop' is always true", "noop: true")
        return NoopStep(id=head.id, next=head.next, place=head.place)

    def _set(self, fields: Fields, head: Head) -> Step:
        values: list[tuple[tuple[str, str], Json]] = []
        for item in self._block_of_keys(fields, "set_memory", "<field>: <value>").keys():
            field = self._scope.writable(item.key, item.place)
            if field is not None:
                name = (field.namespace, field.name)
                values.append((name, self._literal(field, item.value, fields)))
        return SetStep(id=head.id, next=head.next, place=head.place, values=tuple(values))

    def _literal(self, field: MemoryField, node: Node, fields: Fields) -> Json:
        if _names_field(node):
            self._scope.refuse(
                node.place,
                "bad_value",
                "'set_memory' writes values, not other fields",
                "let a tool copy the field",
            )
            return None
        fields.refuse_grouped(node)
        is_text = field.type in ("text", "categorical")
        value = node.text if is_text and isinstance(node, Scalar) else as_json(node)
        value = None if isinstance(node, Scalar) and node.is_null else value
        if not accepts(field, value):
            wanted = (
                f"one of {listed(field.enum_values)}"
                if field.enum_values
                else f"of the type '{field.type}'"
            )
            self._scope.refuse(
                node.place,
                "wrong_type",
                f"the value of '{field.namespace}.{field.name}' must be {wanted}",
                "change the value or the field's type",
            )
        return value

    # ---------------------------------------------------------------- going elsewhere

    def _call(self, fields: Fields, head: Head) -> Step | None:
        target, place = self._named(fields, "call", head)
        exits = self._exits(fields)
        known = self._scope.known
        kind: Literal["block", "skill", "sub_agent"]
        if target in self._scope.blocks:
            kind = "block"
        elif target in known.skills:
            kind = "skill"
        elif target in known.sub_agents:
            kind = "sub_agent"
        else:
            if target:
                self._scope.target(target, place, with_agents=True)
            return None
        written = fields.entry("exit_if")
        if written is not None and kind != "sub_agent":
            self._scope.refuse(
                written.place,
                "bad_step",
                f"'exit_if' is for sub agents, and '{target}' is a {kind}",
                "take it away",
            )
        return CallStep(
            id=head.id, next=head.next, place=head.place, kind=kind, target=target, exit_if=exits
        )

    def _exits(self, fields: Fields) -> tuple[Condition, ...]:
        match fields.node("exit_if"):
            case None if fields.entry("exit_if") is None:
                return ()
            case SequenceNode(items=items) if items:
                read = [self._scope.condition(item) for item in items]
            case _:
                read = [self._scope.condition_key(fields, "exit_if")]
        return tuple(condition for condition in read if condition is not None)

    def _link(self, fields: Fields, head: Head) -> Step | None:
        target, place = self._named(fields, "link", head)
        following = fields.entry("next")
        if following is not None and fields.text("next") != END:
            self._scope.refuse(
                following.place,
                "no_effect",
                "'link' hands over for good: nothing comes back to its 'next'",
                "take 'next' away, or write 'call' to come back",
            )
        kind: Literal["block", "skill"]
        if target in self._scope.blocks:
            kind = "block"
        elif target in self._scope.known.skills:
            kind = "skill"
        else:
            if target:
                self._scope.target(target, place, with_agents=False)
            return None
        return LinkStep(id=head.id, next=head.next, place=head.place, kind=kind, target=target)

    # ---------------------------------------------------------------- helpers

    def _named(self, fields: Fields, key: str, head: Head) -> tuple[str, Place]:
        """The name under a key and where it stands; empty after a problem."""
        entry = fields.entry(key)
        return fields.required_text(key), entry.value.place if entry is not None else head.place

    def _block_of_keys(self, fields: Fields, key: str, example: str) -> Fields:
        node = fields.node(key)
        if node is None and fields.entry(key) is None:
            return fields.section(key)
        if isinstance(node, MappingNode) and node.entries:
            return fields.section(key)
        entry = fields.entry(key)
        place = node.place if node is not None else entry.place if entry else fields.place
        self._scope.refuse(
            place,
            "wrong_type",
            f"'{fields.path(key)}' must be a block of keys",
            f"write '{example}' in the lines below, further in",
        )
        return Fields(None, self._scope.problems, fields.path(key), place)
