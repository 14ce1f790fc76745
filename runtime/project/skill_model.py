"""A skill as the engine runs it: prose, ordered blocks, gates, all parsed and checked.

Owns the records of what stands in ``skill.md``. Conditions are parsed (``conditions``); targets of
steps and tokens exist. Reading the file is ``skill_file`` and ``block_file``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from runtime.agent import Expect, Json, KeyRule
from runtime.errors import Place
from runtime.project.conditions import Condition
from runtime.tools.definition import ToolDef

__all__ = [
    "END",
    "Access",
    "ActionStep",
    "Block",
    "BlockToken",
    "Branch",
    "CallStep",
    "CollectStep",
    "CompleteWhen",
    "Confirmation",
    "EndStep",
    "InstructStep",
    "LinkStep",
    "MemoryToken",
    "NoopStep",
    "Paragraph",
    "ProsePart",
    "SetStep",
    "Skill",
    "SkillToken",
    "Step",
    "ToolConstraint",
    "ToolStep",
    "ToolToken",
    "UtterRule",
    "ValueRef",
]

END = "END"
"""The step id that ends a block."""


# ------------------------------------------------------------------ prose


@dataclass(frozen=True, slots=True)
class BlockToken:
    """``@block.<id>``: an ordered block of the same skill."""

    block: str


@dataclass(frozen=True, slots=True)
class SkillToken:
    """``@skill.<id>``: another skill that runs, then this one goes on."""

    skill: str


@dataclass(frozen=True, slots=True)
class ToolToken:
    """``@tool.<name>``."""

    tool: str


@dataclass(frozen=True, slots=True)
class MemoryToken:
    """``@memory.<namespace>.<field>``: the live value."""

    namespace: str
    name: str


ProsePart: TypeAlias = str | BlockToken | SkillToken | ToolToken | MemoryToken


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of prose, in the prompt while its condition holds."""

    parts: tuple[ProsePart, ...]
    condition: Condition | None = None
    place: Place = Place("")


# ------------------------------------------------------------------ ordered blocks


@dataclass(frozen=True, slots=True)
class Branch:
    """Where to go next; ``condition`` None = always (the ``else``, or a plain ``next``)."""

    target: str
    """A step id of the block, or ``END``."""
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class ValueRef:
    """``session.<namespace>.<field>`` as a value: resolved from memory when the step runs."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    id: str
    """As written, or ``step_<n>`` (n from 1)."""
    next: tuple[Branch, ...]
    """Never empty but for ``END``: a step without ``next`` names the step below it, the last END.
    When no branch holds, the block ends."""
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructStep(_Step):
    """The model converses. Without ``complete_when`` it is done with its first reply; with
    ``optional`` it is done at the latest with the caller's next words.
    """

    instructions: tuple[ProsePart, ...]
    complete_when: Condition | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectStep(_Step):
    """Asks for one memory entry."""

    namespace: str
    """The skill's id (a bare name of the skill's own), or ``project``."""
    field: str
    utterance: str | None = None
    """Name of the response that asks; None = the model asks."""
    description: str | None = None
    ask_before_filling: bool = False
    keys: KeyRule | None = None
    expect: Expect = Expect()
    """As written, else derived from the field's type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStep(_Step):
    """``utter_*`` delivers a response; ``action_listen``, ``hangup``, ``transfer``."""

    kind: Literal["utter", "listen", "hang_up", "transfer"]
    target: str = ""
    """The response, or whom to transfer to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep(_Step):
    """The engine calls a tool."""

    tool: str
    parameters: tuple[tuple[str, "Json | ValueRef"], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoopStep(_Step):
    """Only routes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStep(_Step):
    """Literal writes: ((namespace, field), value)."""

    values: tuple[tuple[tuple[str, str], Json], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStep(_Step):
    """Runs a block, a skill or a sub agent, then goes on."""

    kind: Literal["block", "skill", "sub_agent"]
    target: str
    exit_if: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkStep(_Step):
    """Hands over to a block or a skill, no return."""

    kind: Literal["block", "skill"]
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndStep(_Step):
    """``id: END``."""


Step: TypeAlias = (
    InstructStep
    | CollectStep
    | ActionStep
    | ToolStep
    | NoopStep
    | SetStep
    | CallStep
    | LinkStep
    | EndStep
)


@dataclass(frozen=True, slots=True)
class Block:
    """An ordered block; step ids are unique and never ``END`` but for an ``EndStep``."""

    id: str
    steps: tuple[Step, ...]
    """Never empty."""
    place: Place = Place("")

    def step(self, step_id: str) -> Step | None:
        """The step of that id; None for END and for an id that is gone."""
        return next((s for s in self.steps if s.id == step_id), None)


# ------------------------------------------------------------------ frontmatter


@dataclass(frozen=True, slots=True)
class Confirmation:
    """``requires_confirmation`` with ``enabled: true``."""

    question: str | None = None
    """Response that asks; None = the model phrases it."""
    denial: str | None = None
    """Response after a no; None = the model phrases it."""


@dataclass(frozen=True, slots=True)
class ToolConstraint:
    """What guards one tool of a skill."""

    tool: str
    requires: Condition | None = None
    confirmation: Confirmation | None = None
    on_success: str | None = None
    on_failure: str | None = None
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class CompleteWhen:
    """When a skill is finished by itself, and what the model is told about being finished."""

    condition: Condition | None = None
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UtterRule:
    """A response said when the skill starts, or when a condition first becomes true after a
    write.
    """

    response: str
    on_activate: bool = False
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """Qualified names, ``<namespace>.<field>``, that tools of the skill can't read or write."""

    deny_read: frozenset[str] = frozenset()
    deny_write: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill."""

    id: str
    """The folder's name."""
    name: str
    description: str
    prose: tuple[Paragraph, ...] = ()
    blocks: tuple[Block, ...] = ()
    requires: Condition | None = None
    precondition: str | None = None
    hidden: bool = False
    disabled: bool = False
    complete_when: CompleteWhen = CompleteWhen()
    constraints: Mapping[str, ToolConstraint] = field(default_factory=dict[str, ToolConstraint])
    utters: tuple[UtterRule, ...] = ()
    access: Access = Access()
    engine_managed: bool = False
    """A packaged skill, or one that takes its place: started by the engine, never routed to."""
    packaged: bool = False
    imports: tuple[str, ...] = ()
    """``import_tools`` as written."""
    examples: tuple[str, ...] = ()
    """Sentences of callers that mean this skill (``routing.examples``)."""
    tools: Mapping[str, ToolDef] = field(default_factory=dict[str, ToolDef])
    """Every tool attached to the skill, hooks and button sources included."""
    button_sources: frozenset[str] = frozenset()
    """Tools that a response's buttons name: called by the engine only."""
    place: Place = Place("")

    def block(self, block_id: str) -> Block | None:
        """The block of that id."""
        return next((b for b in self.blocks if b.id == block_id), None)

    @property
    def entry_block(self) -> Block | None:
        """Where a skill without prose begins: the one block no other calls or links."""
        if self.prose or not self.blocks:
            return None
        return next((b for b in self.blocks if not self._is_target(b.id)), self.blocks[0])

    def _is_target(self, block_id: str) -> bool:
        return any(
            isinstance(step, CallStep | LinkStep)
            and step.kind == "block"
            and step.target == block_id
            and block.id != block_id
            for block in self.blocks
            for step in block.steps
        )
