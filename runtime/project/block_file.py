"""Reads the YAML of an ordered block: its steps' ids, and what follows what.

Owns ``steps``, ``id`` and ``next``. What a step does is ``step_file``; whether the steps come to an
end is ``block_flow``.
"""

import re
from collections.abc import Mapping, Sequence

from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.prose_file import BlockText
from runtime.project.skill_model import END, Block, Branch, EndStep, Step
from runtime.project.skill_scope import Scope
from runtime.project.step_file import Head, StepReader
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Node, Scalar
from runtime.project.yaml_nodes import Sequence as SequenceNode
from runtime.project.yaml_source import parse

__all__ = ["read_block"]

_ID = re.compile(r"\w[\w-]*")
_MAX_ID = 100
_STEP = "step"


def read_block(written: BlockText, file: str, env: Mapping[str, str], scope: Scope) -> Block | None:
    """Read one block; None, with its problems noted, when it has no steps that can be used."""
    before = len(scope.problems.found)
    text = "\n".join(written.lines)
    tree = parse(text, file, scope.problems, env, first_line=written.first_line)
    if tree is None and len(scope.problems.found) > before:
        return None
    top = Fields(tree, scope.problems, "", written.place)
    nodes = _steps(top, written, scope)
    top.done()
    if not nodes:
        return None
    reader = _Reader(nodes, StepReader(scope, written.lines, written.first_line), scope)
    steps = reader.read()
    return Block(written.id, steps, written.place) if steps else None


def _steps(top: Fields, written: BlockText, scope: Scope) -> tuple[Node, ...]:
    match top.node("steps"):
        case SequenceNode(items=items) if items:
            return items
        case None | SequenceNode():
            scope.refuse(
                written.place,
                "empty_block",
                f"the block '{written.id}' has no steps",
                "write 'steps:' and the steps below it, each beginning with '- '",
            )
        case other:
            scope.refuse(
                other.place, "wrong_type", "'steps' must be a list", "begin each step with '- '"
            )
    return ()


class _Reader:
    """The steps of one block."""

    def __init__(self, nodes: Sequence[Node], kinds: StepReader, scope: Scope) -> None:
        self._nodes = nodes
        self._kinds = kinds
        self._scope = scope
        self._ids = self._read_ids()

    def read(self) -> tuple[Step, ...]:
        below = [*self._ids[1:], END]
        read = map(self._step, self._nodes, self._ids, below)
        return tuple(step for step in read if step is not None)

    def _read_ids(self) -> list[str]:
        """The id of each step, written or numbered; twice the same is a problem."""
        places: dict[str, Place] = {}
        found: list[str] = []
        for number, node in enumerate(self._nodes, 1):
            entry = node.get("id") if isinstance(node, MappingNode) else None
            value = entry.value if entry is not None else None
            written = value.text.strip() if isinstance(value, Scalar) else ""
            name = written or f"step_{number}"
            place = value.place if value is not None else node.place
            if name in places:
                self._scope.refuse(
                    place,
                    "duplicate_id",
                    f"two steps are called '{name}'; first at {places[name]}",
                    "give it another id",
                )
            elif not _ID.fullmatch(name) or len(name) > _MAX_ID:
                self._scope.refuse(
                    place,
                    "bad_name",
                    "a step's id is made of letters, digits, '_' and '-'",
                    "rename it",
                )
            places.setdefault(name, place)
            found.append(name)
        return found

    def _step(self, node: Node, step_id: str, below: str) -> Step | None:
        if not isinstance(node, MappingNode):
            self._scope.refuse(
                node.place,
                "wrong_type",
                "a step is a block of keys",
                "write what it does, as in '- collect: <field>'",
            )
            return None
        fields = Fields(node, self._scope.problems, _STEP, node.place)
        fields.text("id")  # an empty one is a problem
        if step_id == END:
            return self._end(fields, node)
        kind = self._kinds.kind_of(fields, node)
        following = self._next(fields, below)
        if kind is None:
            return None
        step = self._kinds.read(kind, fields, Head(step_id, following, node.place))
        fields.done()
        return step

    def _end(self, fields: Fields, node: MappingNode) -> Step:
        extra = next((entry for entry in node.entries if entry.key not in ("id", "noop")), None)
        if extra is not None:
            self._scope.refuse(
                extra.place,
                "bad_step",
                f"'id: {END}' ends the block and does nothing else",
                f"take '{extra.key}' away, or give the step another id",
            )
        return EndStep(id=END, next=(), place=fields.place)

    # ---------------------------------------------------------------- next

    def _next(self, fields: Fields, below: str) -> tuple[Branch, ...]:
        match fields.node("next"):
            case SequenceNode() as listing:
                return self._branches(listing)
            case MappingNode() as other:
                self._scope.refuse(
                    other.place,
                    "wrong_type",
                    "'step.next' must be a step's id or a list",
                    "begin each branch with '- ', and close the list with '- else: <id>'",
                )
                return (Branch(below),)
            case _:
                return (Branch(self._target(fields, "next") or below),)

    def _branches(self, listing: SequenceNode) -> tuple[Branch, ...]:
        branches: list[Branch] = []
        closed = False
        for item in listing.items:
            fields = Fields(
                item, self._scope.problems, f"{_STEP}.next", item.place, "else", is_item=True
            )
            if closed:
                self._scope.refuse(
                    item.place,
                    "bad_branch",
                    "nothing below 'else' is ever looked at",
                    "move 'else' to the end of the list",
                )
            if fields.entry("else") is not None:
                branches += self._else(fields)
                closed = True
            else:
                branches += self._if(fields)
            fields.done()
        if not closed:
            self._scope.refuse(
                listing.place,
                "bad_branch",
                "the list has no 'else' for when no condition holds",
                f"close it with '- else: <id>' or '- else: {END}'",
            )
        return tuple(branches)

    def _else(self, fields: Fields) -> list[Branch]:
        if any([fields.entry("if"), fields.entry("then")]):
            self._scope.refuse(
                fields.place,
                "bad_branch",
                "'else' stands in the same entry as 'if' and 'then'",
                "begin a line '- else: <id>' of its own below it",
            )
        target = self._target(fields, "else", required=True)
        return [Branch(target)] if target else []

    def _if(self, fields: Fields) -> list[Branch]:
        entry = fields.entry("if")
        if entry is None:
            fields.required_text("if")
        condition = self._scope.condition_key(fields, "if")
        target = self._target(fields, "then", required=True)
        return [Branch(target, condition)] if condition is not None and target else []

    def _target(self, fields: Fields, key: str, *, required: bool = False) -> str:
        entry = fields.entry(key)
        target = fields.required_text(key) if required else fields.text(key, "")
        if target and entry is not None:
            self._scope.step(target, entry.value.place, [*self._ids, END])
        return target
