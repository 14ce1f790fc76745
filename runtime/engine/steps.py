"""The deterministic half of a turn: whatever can be done without the model is done, in order.

Theory of operation. ``advance`` looks at the top of the stack and does the one thing that comes
next, until it is the model's or the caller's turn. Each look begins from the folded state, so that
it does not matter whether the turn before ended well: a step is where the events say it is. A
question that the caller's words may already answer goes to the model first, once; only then is it
put by the engine.
"""

from collections.abc import Mapping
from enum import Enum, auto

from runtime.agent import Expect, Json, KeyRule
from runtime.conversation.dialogue import BlockPlace, Frame
from runtime.conversation.events import BlockEnded, BlockStarted, MemorySet, StepAsked, StepEntered
from runtime.engine.confirming import Confirming
from runtime.engine.desk import Desk
from runtime.engine.gates import holds
from runtime.engine.responses import Responses
from runtime.engine.scope import TurnScope
from runtime.engine.stack import CHANGED, COMPLETED, CONTINUE_INTERRUPTED, Stack
from runtime.engine.step_calls import StepCalls, ToolMove
from runtime.engine.utters import say_due
from runtime.engine.writes import Writes
from runtime.models.situation import inside_sentence
from runtime.project.skill_model import (
    END,
    ActionStep,
    CallStep,
    CollectStep,
    EndStep,
    InstructStep,
    LinkStep,
    NoopStep,
    SetStep,
    Skill,
    Step,
    ToolStep,
)
from runtime.tools.arguments import canonical_json

__all__ = ["MOST_VISITS", "Move", "Steps"]

MOST_MOVES = 200
"""In one turn; a block that needs more goes round in a circle."""

MOST_VISITS = 20
"""Of one step in one turn: nobody listens to more of the same."""

_UNMET = "utter_precondition_unmet"
_QUESTION_MARKS = frozenset("?？؟;՞")
"""Of Latin and most other scripts, of Chinese and Japanese, Arabic, Greek, Armenian."""
_WITHOUT_MARKS = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages whose questions often have no mark."""
_MAKE_ANEW = "The held call's values have changed: call the tool with the new ones, if it is due."
_PHRASE = "The held call was not asked about. Ask the caller to confirm it, in one short question."


class Move(Enum):
    """Whose turn it is."""

    MODEL = auto()
    CALLER = auto()
    """Nothing more to do before the caller has spoken, or at all."""
    STUCK = auto()
    """The steps go round in a circle."""


class Steps:
    """Moves through the skills of one call."""

    def __init__(self, desk: Desk, stack: Stack, responses: Responses, writes: Writes) -> None:
        """Do what comes next through these parts."""
        self._desk = desk
        self._stack = stack
        self._responses = responses
        self._writes = writes
        self.confirming = Confirming(desk, responses)
        self._calls = StepCalls(desk, stack, self.confirming, responses)

    async def advance(self, scope: TurnScope) -> Move:
        """Do everything that needs neither the model nor the caller."""
        for _ in range(MOST_MOVES):
            move = await self._next(scope)
            if move is not None:
                return move
            if max(scope.entered.values(), default=0) > MOST_VISITS:
                break
        return Move.STUCK

    async def _next(self, scope: TurnScope) -> Move | None:
        """One thing; None = look again."""
        if scope.hangs_up or scope.transfers_to is not None:
            return Move.CALLER
        frame = self._desk.top
        if scope.only_engine and (frame is None or frame.cause != "engine"):
            return Move.CALLER
        if frame is None:
            # Without a skill it is the model's to answer the caller, once.
            is_answered = scope.said or (0, 0) in scope.replied_at or not scope.has_input
            return Move.CALLER if is_answered and not scope.owes_reply else Move.MODEL
        skill = self._desk.skill_of(frame)
        if skill is None:
            self._stack.end(scope.turn, frame, "dropped")
            return None
        if frame.waiting_for is not None:
            return await self._behind_precondition(scope, frame)
        if frame.is_parked:
            return self._offer_return(scope, frame, skill)
        if await say_due(self._desk, self._responses, scope, frame, skill):
            return None
        if scope.owes_reply:
            return Move.MODEL
        if self._is_complete(skill):
            return self._complete(scope, frame, skill)
        if self.confirming.is_in_front and not scope.has_considered(frame.id):
            return Move.MODEL
        made = self.confirming.call
        if made is not None and made.made_for == "model" and self.confirming.is_in_front:
            return await self._ask_held(scope, frame)
        if frame.place is not None:
            return await self._in_block(scope, frame, skill, frame.place)
        if not skill.prose:
            return self._complete(scope, frame, skill)
        return Move.CALLER if (frame.id, 0) in scope.replied_at else Move.MODEL

    # -- skills

    async def _behind_precondition(self, scope: TurnScope, frame: Frame) -> Move | None:
        """The resolver has ended: go on if it brought about what was missing."""
        found = self._desk.project.orchestrator.preconditions.get(frame.waiting_for or "")
        if found is None or holds(found.satisfied_when, self._desk.reader(frame.skill)):
            self._stack.resume(scope.turn, frame)
            return None
        self._stack.end(scope.turn, frame, "dropped")
        if frame.cause == "called":
            # A block does not go on without what it called.
            self._stack.cancel(scope.turn, "dropped")
        if found.says_unmet and frame.cause != "resolver":
            await self._responses.give(scope, _UNMET)
        return None

    def _offer_return(self, scope: TurnScope, frame: Frame, skill: Skill) -> Move | None:
        """The caller went on to something else, which is done: shall we go on with this?"""
        if frame.cause == "resolver" and self._is_resolved(frame):
            self._stack.end(scope.turn, frame, "dropped")
            return None
        asking = self._desk.project.skills.get(CONTINUE_INTERRUPTED)
        wish = self._desk.skill_of(self._stack.wish_of(frame)) or skill
        if asking is None or asking.disabled or wish.hidden:
            self._stack.resume(scope.turn, frame)
            return None
        self.run_engine_skill(scope, asking, {"interrupted_name": inside_sentence(wish.name)})
        return None

    def _is_resolved(self, resolver: Frame) -> bool:
        """Whether what a resolver was to bring about has come about without it."""
        frames = self._desk.state.dialogue.frames
        at = frames.index(resolver)
        waiting = frames[at - 1] if at else None
        found = self._desk.project.orchestrator.preconditions.get(
            (waiting.waiting_for if waiting is not None else None) or ""
        )
        return (
            waiting is not None
            and found is not None
            and holds(found.satisfied_when, self._desk.reader(waiting.skill))
        )

    def _write(self, scope: TurnScope, namespace: str, values: Mapping[str, Json]) -> None:
        for name, value in values.items():
            if self._desk.schema.field(namespace, name) is not None:
                text = canonical_json(value)
                self._desk.record(scope.turn, MemorySet(namespace, name, text, "engine"))

    def _is_complete(self, skill: Skill) -> bool:
        condition = skill.complete_when.condition
        return condition is not None and holds(condition, self._desk.reader(skill.id))

    def complete(self, scope: TurnScope) -> None:
        """The model says that the active skill is done."""
        frame = self._desk.top
        skill = self._desk.skill_of(frame)
        if frame is not None and skill is not None:
            self._complete(scope, frame, skill)

    def _complete(self, scope: TurnScope, frame: Frame, skill: Skill) -> Move | None:
        wants_back = (
            skill.id == CONTINUE_INTERRUPTED and self._desk.value(skill.id, "continue_it") is True
        )
        self._stack.end(scope.turn, frame, "completed")
        below = self._desk.top
        if skill.id == CONTINUE_INTERRUPTED and below is not None and below.is_parked:
            if wants_back:
                self._stack.resume(scope.turn, below)
            else:
                self._stack.cancel(scope.turn, "dropped")
        self.wrap_up(scope, frame)
        return None

    def wrap_up(self, scope: TurnScope, ended: Frame) -> None:
        """The last skill has ended: ask what else there is, unless the model has."""
        last = self._desk.project.skills.get(COMPLETED)
        if self._desk.top is not None or last is None or last.disabled:
            return
        if ended.cause == "engine" or scope.wrapped_up or scope.hangs_up:
            return
        self._stack.start(scope.turn, last, "engine")

    async def _ask_held(self, scope: TurnScope, frame: Frame) -> Move:
        """The model's own call is held: put its question, or let the model put it."""
        if self.is_held_outdated(self.confirming.wording):
            # A tool, a key or a tap has changed a value: it is another call now.
            self._stack.withdraw(scope.turn, CHANGED, frame.id)
            scope.owes_reply = True
            scope.note = _MAKE_ANEW
            return Move.MODEL
        if self.confirming.is_asked(scope) or await self.confirming.ask(scope):
            return Move.CALLER
        visit = frame.place.visit if frame.place is not None else 0
        return Move.CALLER if (frame.id, visit) in scope.replied_at else Move.MODEL

    # -- blocks

    async def _in_block(
        self, scope: TurnScope, frame: Frame, skill: Skill, place: BlockPlace
    ) -> Move | None:
        block = skill.block(place.block)
        if block is None:
            self._desk.record(scope.turn, BlockEnded(frame.id))
            return None
        if place.step is None:
            self._enter(scope, frame, block.steps[0].id)
            return None
        step = block.step(place.step)
        if step is None or isinstance(step, EndStep):
            self._desk.record(scope.turn, BlockEnded(frame.id))
            return None
        return await self._at_step(scope, frame, skill, step, place)

    async def _at_step(
        self, scope: TurnScope, frame: Frame, skill: Skill, step: Step, place: BlockPlace
    ) -> Move | None:
        match step:
            case CollectStep():
                return await self._collect(scope, frame, skill, step, place)
            case ToolStep():
                return await self._tool(scope, frame, skill, step, place)
            case ActionStep():
                return await self._action(scope, frame, skill, step, place)
            case InstructStep():
                return self._instruct(scope, frame, skill, step, place)
            case SetStep():
                for (namespace, name), value in step.values:
                    qualified = {f"{namespace}.{name}": value}
                    await self._writes.write(scope.turn, qualified, "step")
            case CallStep() | LinkStep():
                return self._call(scope, frame, skill, step, place)
            case NoopStep() | EndStep():
                pass
        self._go_on(scope, frame, skill, step)
        return None

    def _enter(self, scope: TurnScope, frame: Frame, step: str) -> None:
        scope.entered[frame.id, step] += 1
        visit = self._desk.state.dialogue.visits + 1
        self._desk.record(scope.turn, StepEntered(frame.id, step, visit))

    def _go_on(self, scope: TurnScope, frame: Frame, skill: Skill, step: Step) -> None:
        """Enter the step that comes next; where no branch holds, the block ends."""
        read = self._desk.reader(skill.id)
        target = next((b.target for b in step.next if holds(b.condition, read)), END)
        if target == END:
            self._desk.record(scope.turn, BlockEnded(frame.id))
        else:
            self._enter(scope, frame, target)

    async def _collect(
        self,
        scope: TurnScope,
        frame: Frame,
        skill: Skill,
        step: CollectStep,
        place: BlockPlace,
    ) -> Move | None:
        value = self._desk.value(step.namespace, step.field)
        is_fresh = place.written or not step.ask_before_filling
        if value is not None and is_fresh:
            self._go_on(scope, frame, skill, step)
            return None
        must_ask_first = step.ask_before_filling and not place.was_asked
        if not must_ask_first and not scope.has_considered(frame.id):
            return Move.MODEL
        if scope.expect.kind == "open":
            scope.expect = step.expect
        if step.utterance is not None:
            given = await self._responses.give(scope, step.utterance, expect=step.expect)
            if given is not None:
                self._desk.record(scope.turn, self._asked(frame, step, given.say))
                return Move.CALLER
        if (frame.id, place.visit) in scope.replied_at:
            self._desk.record(scope.turn, self._asked(frame, step, 0))
            return Move.CALLER
        return Move.MODEL

    def _asked(self, frame: Frame, step: CollectStep, say: int) -> StepAsked:
        return StepAsked(frame.id, say, f"{step.namespace}.{step.field}")

    async def _tool(
        self, scope: TurnScope, frame: Frame, skill: Skill, step: ToolStep, place: BlockPlace
    ) -> Move | None:
        match await self._calls.advance(scope, frame, skill, step, place):
            case ToolMove.DONE:
                self._go_on(scope, frame, skill, step)
                return None
            case ToolMove.AGAIN:
                return None
            case ToolMove.ASKED:
                return Move.CALLER
            case ToolMove.CONSIDER:
                return Move.MODEL
            case ToolMove.PHRASE:
                replied = (frame.id, place.visit) in scope.replied_at
                return Move.CALLER if replied else Move.MODEL

    async def _action(
        self,
        scope: TurnScope,
        frame: Frame,
        skill: Skill,
        step: ActionStep,
        place: BlockPlace,
    ) -> Move | None:
        match step.kind:
            case "utter":
                await self._responses.give(scope, step.target)
            case "hang_up":
                scope.hangs_up = True
            case "transfer":
                scope.transfers_to = step.target
            case "listen":
                waited = place.was_asked and place.asked_turn != self._desk.state.turn
                if not waited:
                    self._desk.record(scope.turn, StepAsked(frame.id))
                    return Move.CALLER
        self._go_on(scope, frame, skill, step)
        return None

    def _instruct(
        self,
        scope: TurnScope,
        frame: Frame,
        skill: Skill,
        step: InstructStep,
        place: BlockPlace,
    ) -> Move | None:
        done = step.complete_when is not None and holds(
            step.complete_when, self._desk.reader(skill.id)
        )
        if step.complete_when is None and place.was_asked:
            done = True  # one reply is all it wants
        if step.optional and place.was_asked and place.asked_turn != self._desk.state.turn:
            done = done or scope.has_considered(frame.id)
        if done:
            self._go_on(scope, frame, skill, step)
            return None
        return Move.CALLER if (frame.id, place.visit) in scope.replied_at else Move.MODEL

    def _call(
        self,
        scope: TurnScope,
        frame: Frame,
        skill: Skill,
        step: CallStep | LinkStep,
        place: BlockPlace,
    ) -> Move | None:
        if place.returned:
            self._go_on(scope, frame, skill, step)
            return None
        linked = isinstance(step, LinkStep)
        if step.kind == "block":
            self._desk.record(scope.turn, BlockStarted(frame.id, step.target, linked))
            return None
        other = self._desk.project.skills.get(step.target)
        if other is None or other.disabled:
            self._go_on(scope, frame, skill, step)
        elif linked:
            self._stack.link(scope.turn, frame, other)
        elif not self._stack.start(scope.turn, other, "called"):
            self._go_on(scope, frame, skill, step)
        return None

    # -- what the model did

    def start_block(self, scope: TurnScope, frame: Frame, block: str) -> None:
        """The prose of the active skill has come to one of its blocks."""
        self._desk.record(scope.turn, BlockStarted(frame.id, block))

    def run_engine_skill(self, scope: TurnScope, skill: Skill, values: Mapping[str, Json]) -> None:
        """Put one of the engine's own skills on the stack, with what it needs to know."""
        self._stack.start(scope.turn, skill, "engine")
        self._write(scope, skill.id, values)

    def replied(self, scope: TurnScope, say: int, text: str) -> None:
        """The model has replied in words where the dialogue stands."""
        self.note_reply(scope)
        frame = self._desk.top
        if self.confirming.is_in_front and self.confirming.rule().question is None:
            self._phrased(scope, say, text)
        elif frame is not None and isinstance(self.step, InstructStep):
            place = frame.place
            if place is not None and not place.was_asked:  # ``asked_turn``: of the first reply
                self._desk.record(scope.turn, StepAsked(frame.id, say))

    def _phrased(self, scope: TurnScope, say: int, text: str) -> None:
        """The reply is the held call's question; one that asks nothing is asked for once more."""
        language = (self._desk.opening.language or self._desk.project.language)[:2].lower()
        if not _QUESTION_MARKS.isdisjoint(text) or language in _WITHOUT_MARKS:
            self.confirming.phrased(scope, say, text)
        elif not scope.must_phrase:
            scope.must_phrase = scope.owes_reply = True
            scope.note = _PHRASE

    def note_reply(self, scope: TurnScope) -> None:
        """Where the dialogue stands, the model has had its say."""
        frame = self._desk.top
        place = frame.place if frame is not None else None
        scope.replied_at.add(
            (frame.id if frame is not None else 0, place.visit if place is not None else 0)
        )

    def is_held_outdated(self, question: str | None) -> bool:
        """Whether the call held for the active skill is not what memory says any more.

        Args:
            question: What the engine asked about it before a write.
        """
        made, skill, step = self.confirming.call, self._desk.skill_of(self._desk.top), self.step
        if made is None or skill is None or not self.confirming.is_in_front:
            return False
        if self.confirming.wording != question:
            return True
        if made.made_for == "step" and isinstance(step, ToolStep):
            return self._calls.arguments(skill, step) != made.arguments
        return self.confirming.has_changed(made)

    # -- where the dialogue stands

    @property
    def step(self) -> Step | None:
        """The step that the active skill is at."""
        frame = self._desk.top
        skill, place = self._desk.skill_of(frame), frame.place if frame is not None else None
        block = skill.block(place.block) if skill is not None and place is not None else None
        if block is None or place is None or place.step is None:
            return None
        return block.step(place.step)

    @property
    def has_own_line(self) -> bool:
        """Whether the engine will say something itself where the model has not."""
        if self.confirming.is_in_front:
            return self.confirming.wording is not None
        step = self.step
        if isinstance(step, ToolStep):
            return True  # its call goes on, or is made again
        if not isinstance(step, CollectStep) or step.utterance is None:
            return False
        return self._responses.wording(step.utterance) is not None

    def listening(self, scope: TurnScope) -> tuple[Expect, KeyRule | None]:
        """What kind of answer is waited for, and how keys are collected for it."""
        if self.confirming.is_in_front:
            return Expect("yes_no"), None
        step = self.step
        if not isinstance(step, CollectStep):
            return scope.expect, None
        buttons = tuple(b.title for b in self._desk.state.buttons)
        expect = step.expect
        if buttons and expect.kind in ("open", "choice"):
            expect = Expect("choice", choices=buttons)
        return expect, step.keys
