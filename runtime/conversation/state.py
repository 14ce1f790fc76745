"""What a conversation's events fold into: history as heard, tool calls, memory.

Owns every fact that a prompt is built from, and nothing else decides it: the engine changes this
state only by applying an event, so that a state rebuilt from the log equals the live one. Reading
and writing rules of memory are ``memory``; the messages for a model are ``prompt_history``.

Rules of the fold:

- a message is in the history as far as it was heard, never further; one that was written but is
  not settled yet counts as being spoken while its turn is not interrupted;
- a call has exactly one outcome; what comes later is news, not an outcome;
- a turn that *reopens* another one takes its place: the caller's words, the engine's own calls and
  their memory writes and the moves of the dialogue of the reopened turn are undone, what authors'
  tools did stands;
- a skill that starts another time begins with its fields unset.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TypeAlias, assert_never

from runtime.agent import InputKind, Json, SayKind, SayOutcome
from runtime.conversation.dialogue import (
    Dialogue,
    apply_dialogue,
    asked,
    rolled_back,
    settled,
    wrote,
)
from runtime.conversation.events import (
    BlockEnded,
    BlockStarted,
    CallEnded,
    CallFor,
    CallStarted,
    ConfirmationAnswered,
    ConfirmationAsked,
    ConfirmationWithdrawn,
    DialogueFact,
    Event,
    Fact,
    KnowledgeSearched,
    LateOutcome,
    MemorySet,
    MessageDropped,
    MessageHeard,
    MessageWritten,
    ModelCalled,
    OfferedButton,
    ResponseGiven,
    SkillEnded,
    SkillResumed,
    SkillStarted,
    StepAsked,
    StepEntered,
    ToolAsked,
    ToolOutcome,
    ToolSettled,
    ToolStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    UtterFired,
    UtterLooked,
)

__all__ = [
    "CallMade",
    "CallerSaid",
    "ConversationState",
    "HistoryItem",
    "LateNews",
    "Message",
    "MemoryKey",
    "fold",
    "wish_of",
]

MOST_ITEMS = 600
"""History items kept; older ones fall out, but never a call without its outcome."""

MemoryKey: TypeAlias = tuple[str, str]
"""(namespace, name)."""


@dataclass(slots=True)
class CallerSaid:
    """One input of the caller."""

    turn: int
    kind: InputKind
    text: str
    uncertain: bool = False


@dataclass(slots=True)
class Message:
    """One message of the agent."""

    turn: int
    round: int
    say: int
    kind: SayKind
    text: str
    interruptible: bool
    call_id: int | None
    outcome: SayOutcome | None = None
    """None = not settled yet."""
    heard_chars: int = 0


@dataclass(slots=True)
class CallMade:
    """One call the model asked for."""

    turn: int
    round: int
    call_id: int
    model_call_id: str
    tool: str
    arguments: str
    made_for: CallFor = "model"
    started: bool = False
    finish: bool = False
    idempotency_key: str = ""
    outcome: ToolOutcome | None = None
    result: str = ""
    committed: bool = False


@dataclass(slots=True)
class LateNews:
    """How a call that had been given up came to its end after all."""

    turn: int
    call_id: int
    tool: str
    outcome: ToolOutcome
    result: str


HistoryItem: TypeAlias = CallerSaid | Message | CallMade | LateNews


@dataclass(slots=True)
class _Undo:
    """How memory was before one write of a turn that may still be reopened."""

    key: MemoryKey
    before: Json
    was_set: bool


@dataclass(slots=True)
class ConversationState:
    """The fold of a conversation's events so far."""

    sequence: int = 0
    at_ms: int = 0
    turn: int = 0
    """The latest turn."""
    turns_before_call: int = 0
    """The latest turn when the present call began."""
    call: CallStarted | None = None
    ended: bool = False
    history: list[HistoryItem] = field(default_factory=list[HistoryItem])
    memory: dict[MemoryKey, Json] = field(default_factory=dict[MemoryKey, Json])
    settled_ok: dict[str, int] = field(default_factory=dict[str, int])
    """Wish (tool and arguments) → how often it was fulfilled."""
    interrupted: set[int] = field(default_factory=set[int])
    """Turns of this conversation that were interrupted and still matter to the history."""
    open_turns: set[int] = field(default_factory=set[int])
    highest_say: int = 0
    highest_call: int = 0
    dialogue: Dialogue = Dialogue()
    buttons: tuple[OfferedButton, ...] = ()
    """Of the agent's latest message: the only ones that a tap can mean."""
    offered: dict[str, tuple[OfferedButton, ...]] = field(
        default_factory=dict[str, tuple[OfferedButton, ...]]
    )
    """Memory entry → the buttons that its question was last put with."""
    untold: dict[int, ResponseGiven] = field(default_factory=dict[int, ResponseGiven])
    """Say → a response that tells a call's outcome, as long as nothing of it was heard."""
    _dialogue_before: Dialogue = Dialogue()
    """As the latest turn found it."""
    _buttons_before: tuple[OfferedButton, ...] = ()
    _undo: list[_Undo] = field(default_factory=list[_Undo])
    _undo_turn: int = 0

    def apply(self, event: Event) -> None:
        """Fold one event in; events of a conversation come in the order of their numbers."""
        self.sequence = event.sequence
        self.at_ms = event.at_ms
        self._apply(event.fact, event.turn)
        self._forget_old()

    def preview(self, fact: TurnStarted, turn: int) -> "ConversationState":
        """The state as it would be if this turn began now; this one stays as it is."""
        copy = replace(
            self,
            history=list(self.history),
            memory=dict(self.memory),
            open_turns=set(self.open_turns),
        )
        copy._turn_started(fact, turn)
        return copy

    def message(self, say: int) -> Message | None:
        """The message with this id, if it is still in the history."""
        for item in reversed(self.history):
            if isinstance(item, Message) and item.say == say:
                return item
        return None

    def tool_call(self, call_id: int) -> CallMade | None:
        """The call with this id, if it is still in the history."""
        for item in reversed(self.history):
            if isinstance(item, CallMade) and item.call_id == call_id:
                return item
        return None

    @property
    def open_calls(self) -> list[CallMade]:
        """Calls without an outcome, in the order they were asked."""
        return [i for i in self.history if isinstance(i, CallMade) and i.outcome is None]

    @property
    def open_messages(self) -> list[Message]:
        """Messages that the playback ledger has not settled."""
        return [i for i in self.history if isinstance(i, Message) and i.outcome is None]

    # -- the fold, one case a fact

    def _apply(self, fact: Fact, turn: int) -> None:
        match fact:
            case CallStarted():
                if not fact.resumed or self.ended:
                    self.turns_before_call = self.turn
                self.call, self.ended = fact, False
            case CallEnded():
                self.ended = True
            case TurnStarted():
                self._turn_started(fact, turn)
            case TurnInterrupted():
                self.interrupted.add(turn)
                self.open_turns.discard(turn)
            case TurnFinished():
                self.open_turns.discard(turn)
            case MessageWritten():
                self._message_written(fact, turn)
            case MessageHeard():
                self._message_heard(fact)
            case ToolAsked():
                self._asked(fact, turn)
            case ToolStarted():
                self._started(fact)
            case ToolSettled():
                self._settled(fact)
            case LateOutcome():
                made = self.tool_call(fact.call_id)
                tool = made.tool if made is not None else ""
                self.history.append(LateNews(turn, fact.call_id, tool, fact.outcome, fact.result))
            case MemorySet():
                self._memory_set(fact, turn)
            case ResponseGiven():
                self.buttons = fact.buttons
                if fact.outcome_of is not None:
                    self.untold = {
                        say: told
                        for say, told in self.untold.items()
                        if told.outcome_of != fact.outcome_of
                    }
                    self.untold[fact.say] = fact
            case (
                SkillStarted()
                | SkillEnded()
                | SkillResumed()
                | BlockStarted()
                | BlockEnded()
                | StepEntered()
                | StepAsked()
                | UtterFired()
                | UtterLooked()
                | ConfirmationAsked()
                | ConfirmationAnswered()
                | ConfirmationWithdrawn()
            ):
                self._moved(fact, turn)
            case MessageDropped() | ModelCalled() | KnowledgeSearched():
                pass  # kept for the record; nothing of them is part of what was said or done
            case _:
                assert_never(fact)

    def _turn_started(self, fact: TurnStarted, turn: int) -> None:
        if fact.reopens is not None:
            self._take_back(fact.reopens)
        self.turn = turn
        self.open_turns.add(turn)
        self._undo, self._undo_turn = [], turn
        self._dialogue_before, self._buttons_before = self.dialogue, self.buttons
        if fact.kind is not None:
            self.history.append(CallerSaid(turn, fact.kind, fact.text, fact.uncertain))

    def _moved(self, fact: DialogueFact, turn: int) -> None:
        if isinstance(fact, SkillStarted) and fact.skill in self.dialogue.started:
            for key in [key for key in self.memory if key[0] == fact.skill]:
                self._note_undo(key, turn)
                del self.memory[key]
        if isinstance(fact, StepAsked) and fact.awaits and self.buttons:
            self.offered[fact.awaits] = self.buttons
        self.dialogue = apply_dialogue(self.dialogue, fact, turn)

    def _message_written(self, fact: MessageWritten, turn: int) -> None:
        self.highest_say = max(self.highest_say, fact.say)
        known = self.message(fact.say)
        if known is not None:
            known.text, known.kind = fact.text, fact.kind
            return
        self.buttons = ()
        self.history.append(
            Message(
                turn,
                fact.round,
                fact.say,
                fact.kind,
                fact.text,
                fact.interruptible,
                fact.call_id,
            )
        )

    def _message_heard(self, fact: MessageHeard) -> None:
        message = self.message(fact.say)
        if message is None or message.outcome is not None:
            return
        message.outcome = fact.outcome
        whole = len(message.text)
        message.heard_chars = (
            whole if fact.outcome == "heard" else max(0, min(fact.heard_chars, whole))
        )
        if message.heard_chars:
            self.untold.pop(fact.say, None)

    def _asked(self, fact: ToolAsked, turn: int) -> None:
        self.highest_call = max(self.highest_call, fact.call_id)
        self.history.append(
            CallMade(
                turn,
                fact.round,
                fact.call_id,
                fact.model_call_id,
                fact.tool,
                fact.arguments,
                fact.made_for,
            )
        )
        if fact.made_for == "step":
            self.dialogue = asked(self.dialogue, fact)

    def _started(self, fact: ToolStarted) -> None:
        made = self.tool_call(fact.call_id)
        if made is not None:
            made.started, made.finish = True, fact.finish
            made.arguments, made.idempotency_key = fact.arguments, fact.idempotency_key

    def _settled(self, fact: ToolSettled) -> None:
        made = self.tool_call(fact.call_id)
        if made is None or made.outcome is not None:
            return
        made.outcome, made.result, made.committed = fact.outcome, fact.result, fact.committed
        if fact.outcome == "ok" and made.started:
            wish = wish_of(made.tool, made.arguments)
            self.settled_ok[wish] = self.settled_ok.get(wish, 0) + 1
        self.dialogue = settled(self.dialogue, fact.call_id, fact.outcome)

    def _memory_set(self, fact: MemorySet, turn: int) -> None:
        key = (fact.namespace, fact.name)
        if fact.writer == "tool":
            # What an author's tool wrote stands, also where the engine wrote before it.
            self._undo = [undo for undo in self._undo if undo.key != key]
        else:
            self._note_undo(key, turn)
        entry, value = f"{fact.namespace}.{fact.name}", json.loads(fact.value)
        if fact.writer == "rollback":
            self.dialogue = rolled_back(self.dialogue, entry)
            if value is None:  # as if it had never been written
                self.memory.pop(key, None)
                return
        else:
            self.dialogue = wrote(self.dialogue, entry)
        self.memory[key] = value

    def _note_undo(self, key: MemoryKey, turn: int) -> None:
        if turn == self._undo_turn:
            self._undo.append(_Undo(key, self.memory.get(key), key in self.memory))

    def _take_back(self, turn: int) -> None:
        made = [item for item in self.history if isinstance(item, CallMade)]
        # Once an author's tool ran, the turn has had an effect: what stands cannot be undone.
        has_acted = any(call.turn == turn and call.started for call in made)
        if turn == self._undo_turn and not has_acted:
            for undo in reversed(self._undo):
                if undo.was_set:
                    self.memory[undo.key] = undo.before
                else:
                    self.memory.pop(undo.key, None)
            self.dialogue, self.buttons = self._dialogue_before, self._buttons_before
            for call in made:  # of earlier turns, which ended meanwhile
                if call.outcome is not None:
                    self.dialogue = settled(self.dialogue, call.call_id, call.outcome)
        self.history = [item for item in self.history if not _is_undone(item, turn)]

    def _forget_old(self) -> None:
        if len(self.history) <= MOST_ITEMS:
            return
        surplus = len(self.history) - MOST_ITEMS * 3 // 4  # not one by one: it copies
        old, kept = self.history[:surplus], self.history[surplus:]
        still_open = [i for i in old if isinstance(i, CallMade) and i.outcome is None]
        self.history = still_open + kept
        self.interrupted &= {item.turn for item in self.history}


def fold(events: Iterable[Event]) -> ConversationState:
    """Rebuild the state of a conversation from its events, oldest first."""
    state = ConversationState()
    for event in events:
        state.apply(event)
    return state


def wish_of(tool: str, arguments: str) -> str:
    """The identity of a wish: one tool with one set of arguments (canonical JSON), hashed."""
    return sha256(f"{tool}\n{arguments}".encode()).hexdigest()


def _is_undone(item: HistoryItem, turn: int) -> bool:
    if item.turn != turn:
        return False
    match item:
        case CallerSaid():
            return True
        case Message():
            return item.heard_chars == 0
        case CallMade():
            return not item.started
        case LateNews():
            return False
        case _:
            assert_never(item)
