"""Where the dialogue stands: the stack of skills, the step of each block, the held confirmation.

Owns the fold of the facts that move it. Everything is immutable, so that the state before a turn
is one reference, and taking a reopened turn back is putting that reference in its place. What the
facts mean for a project (which step comes next, what may be offered) is ``runtime.engine``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from runtime.conversation.events import (
    BlockEnded,
    BlockStarted,
    ConfirmationAnswered,
    ConfirmationAsked,
    ConfirmationWithdrawn,
    DialogueFact,
    SkillEnded,
    SkillResumed,
    SkillStarted,
    StartCause,
    StepAsked,
    StepEntered,
    ToolAsked,
    ToolOutcome,
    UtterFired,
    UtterLooked,
)

__all__ = [
    "GIVES_BACK",
    "BlockPlace",
    "Dialogue",
    "Frame",
    "Held",
    "apply_dialogue",
    "asked",
    "rolled_back",
    "settled",
    "wrote",
]


GIVES_BACK: frozenset[StartCause] = frozenset({"delegated", "called", "resolver"})
"""Causes of skills that come back to the one below when they end."""


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """A block that runs, and the step it is at."""

    block: str
    step: str | None = None
    """None = its first step was not entered yet."""
    visit: int = 0
    was_asked: bool = False
    """The step's question was put to the caller, or the model has replied in it."""
    asked_turn: int = 0
    awaits: str = ""
    """The memory entry that the question asks for."""
    written: bool = False
    """It was written after the question was put."""
    returned: bool = False
    """What the step called has come back."""
    call_id: int | None = None
    """The step's latest call of a tool."""
    outcome: ToolOutcome | None = None
    denied: bool = False
    """The caller said no to it."""
    confirmed: bool = False
    """The caller said yes to it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A skill on the stack."""

    id: int
    skill: str
    cause: StartCause
    blocks: tuple[BlockPlace, ...] = ()
    """Innermost last; empty = its prose is followed."""
    waiting_for: str | None = None
    """The precondition it is parked behind."""
    is_parked: bool = False
    """The caller went on to something else: it must be offered again."""
    has_returned: bool = False
    """A block or a skill that its prose refers to has come back."""
    said_rules: frozenset[int] = frozenset()
    """Its ``utter`` rules that were said."""
    held_rules: frozenset[int] | None = None
    """Those that held from its start on, and still do; None = nobody has looked yet."""

    @property
    def place(self) -> BlockPlace | None:
        """The innermost block."""
        return self.blocks[-1] if self.blocks else None


@dataclass(frozen=True, slots=True)
class Held:
    """A call that waits for the caller's yes or no."""

    call_id: int
    frame: int
    say: int | None
    essential_chars: int
    asked_turn: int
    seen: tuple[tuple[str, str], ...] = ()
    """Memory entries called like its arguments, as they were when it was held (JSON text)."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The whole of it."""

    frames: tuple[Frame, ...] = ()
    """The active skill last."""
    holds: tuple[Held, ...] = ()
    """At most one a frame; 0 stands for no skill."""
    last_frame: int = 0
    visits: int = 0
    started: frozenset[str] = frozenset()
    """Skills that have been on the stack."""

    @property
    def top(self) -> Frame | None:
        """The active skill."""
        return self.frames[-1] if self.frames else None

    @property
    def chains(self) -> list[list[Frame]]:
        """The frames, each with those above that were started for it and come back to it."""
        found: list[list[Frame]] = []
        for frame in self.frames:
            if frame.cause in GIVES_BACK and found:
                found[-1].append(frame)
            else:
                found.append([frame])
        return found

    def held_for(self, frame_id: int) -> Held | None:
        """What is held for a frame."""
        return next((held for held in self.holds if held.frame == frame_id), None)

    @property
    def held_calls(self) -> frozenset[int]:
        """Ids of all calls that are held."""
        return frozenset(held.call_id for held in self.holds)

    def frame(self, frame_id: int) -> Frame | None:
        """The frame of that number, if it is still on the stack."""
        return next((f for f in self.frames if f.id == frame_id), None)


def apply_dialogue(dialogue: Dialogue, fact: DialogueFact, turn: int) -> Dialogue:
    """Fold one fact in; a fact about a frame that is gone changes nothing."""
    match fact:
        case SkillStarted():
            return _started(dialogue, fact)
        case SkillEnded():
            return _ended(dialogue, fact)
        case SkillResumed():
            resumed = _brought_up(dialogue, fact.frame) if fact.over else dialogue
            return _on_frame(
                resumed, fact.frame, lambda f: replace(f, waiting_for=None, is_parked=False)
            )
        case BlockStarted():
            return _on_frame(
                dialogue,
                fact.frame,
                lambda f: replace(
                    f,
                    blocks=(*(f.blocks[:-1] if fact.linked else f.blocks), BlockPlace(fact.block)),
                ),
            )
        case BlockEnded():
            return _on_frame(dialogue, fact.frame, _leave_block)
        case StepEntered():
            entered = _on_place(
                dialogue,
                fact.frame,
                lambda p: BlockPlace(p.block, fact.step, fact.visit),
            )
            return replace(entered, visits=max(entered.visits, fact.visit))
        case StepAsked():
            return _on_place(
                dialogue,
                fact.frame,
                lambda p: replace(
                    p, was_asked=True, asked_turn=turn, awaits=fact.awaits, written=False
                ),
            )
        case UtterFired():
            return _on_frame(
                dialogue, fact.frame, lambda f: replace(f, said_rules=f.said_rules | {fact.rule})
            )
        case UtterLooked():
            return _on_frame(
                dialogue, fact.frame, lambda f: replace(f, held_rules=frozenset(fact.holding))
            )
        case ConfirmationAsked():
            held = Held(fact.call_id, fact.frame, fact.say, fact.essential_chars, turn, fact.seen)
            others = (other for other in dialogue.holds if other.frame != fact.frame)
            return replace(dialogue, holds=(*others, held))
        case ConfirmationAnswered():
            return _answered(dialogue, fact)
        case ConfirmationWithdrawn():
            return _without_held(dialogue, fact.call_id)


def asked(dialogue: Dialogue, fact: ToolAsked) -> Dialogue:
    """A step asked for a call of its tool."""
    return _on_place(
        dialogue,
        fact.frame,
        lambda p: replace(p, call_id=fact.call_id, outcome=None, denied=False, confirmed=False),
    )


def settled(dialogue: Dialogue, call_id: int, outcome: ToolOutcome) -> Dialogue:
    """A call has its outcome: the step that made it knows, and nothing is held for it any more."""
    frames = tuple(
        replace(
            f,
            blocks=tuple(
                replace(p, outcome=outcome) if p.call_id == call_id else p for p in f.blocks
            ),
        )
        if any(p.call_id == call_id for p in f.blocks)
        else f
        for f in dialogue.frames
    )
    return _without_held(replace(dialogue, frames=frames), call_id)


def wrote(dialogue: Dialogue, entry: str) -> Dialogue:
    """A memory entry was written: a question that waits for it has its answer."""
    top = dialogue.top
    if top is None or top.place is None or top.place.awaits != entry or top.place.written:
        return dialogue
    return _on_place(dialogue, top.id, lambda p: replace(p, written=True))


def rolled_back(dialogue: Dialogue, entry: str) -> Dialogue:
    """A write was taken back: the question that waits for the entry still has no answer."""
    top = dialogue.top
    if top is None or top.place is None or top.place.awaits != entry:
        return dialogue
    return _on_place(dialogue, top.id, lambda p: replace(p, written=False))


def _brought_up(dialogue: Dialogue, frame_id: int) -> Dialogue:
    """The chain that ends in a frame, on top of what was there, which is parked."""
    chain = next((c for c in dialogue.chains if c[-1].id == frame_id), None)
    if chain is None or chain[-1] is dialogue.top:
        return dialogue
    rest = [frame for frame in dialogue.frames if frame not in chain]
    rest[-1] = replace(rest[-1], is_parked=True)
    return replace(dialogue, frames=(*rest, *chain))


def _started(dialogue: Dialogue, fact: SkillStarted) -> Dialogue:
    blocks = (BlockPlace(fact.block),) if fact.block is not None else ()
    frame = Frame(fact.frame, fact.skill, fact.cause, blocks, fact.waiting_for)
    frames = dialogue.frames
    above = next((i for i, f in enumerate(frames) if f.id == fact.below), len(frames))
    below, on_top = frames[:above], frames[above:]
    if below and fact.cause == "activated" and not on_top:
        below = (*below[:-1], replace(below[-1], is_parked=True))
    return replace(
        dialogue,
        frames=(*below, frame, *on_top),
        last_frame=max(dialogue.last_frame, fact.frame),
        started=dialogue.started | {fact.skill},
    )


def _ended(dialogue: Dialogue, fact: SkillEnded) -> Dialogue:
    ended = dialogue.frame(fact.frame)
    if ended is None:
        return dialogue
    at = dialogue.frames.index(ended)
    frames = list(dialogue.frames[:at] + dialogue.frames[at + 1 :])
    if ended.cause == "called" and at > 0 and fact.how != "linked":
        frames[at - 1] = _returned(frames[at - 1])
    if ended.cause == "delegated" and at > 0:
        frames[at - 1] = replace(frames[at - 1], has_returned=True)
    holds = tuple(held for held in dialogue.holds if held.frame != fact.frame)
    return replace(dialogue, frames=tuple(frames), holds=holds)


def _leave_block(frame: Frame) -> Frame:
    left = replace(frame, blocks=frame.blocks[:-1])
    return _returned(left) if left.blocks else replace(left, has_returned=True)


def _returned(frame: Frame) -> Frame:
    if not frame.blocks:
        return frame
    return replace(frame, blocks=(*frame.blocks[:-1], replace(frame.blocks[-1], returned=True)))


def _answered(dialogue: Dialogue, fact: ConfirmationAnswered) -> Dialogue:
    held = next((held for held in dialogue.holds if held.call_id == fact.call_id), None)
    if held is None:
        return dialogue

    def told(place: BlockPlace) -> BlockPlace:
        if place.call_id != fact.call_id:
            return place
        return replace(place, confirmed=fact.confirmed, denied=not fact.confirmed)

    return _without_held(_on_place(dialogue, held.frame, told), fact.call_id)


def _without_held(dialogue: Dialogue, call_id: int) -> Dialogue:
    if call_id not in dialogue.held_calls:
        return dialogue
    return replace(dialogue, holds=tuple(h for h in dialogue.holds if h.call_id != call_id))


def _on_frame(dialogue: Dialogue, frame_id: int, change: Callable[[Frame], Frame]) -> Dialogue:
    return replace(
        dialogue,
        frames=tuple(change(f) if f.id == frame_id else f for f in dialogue.frames),
    )


def _on_place(
    dialogue: Dialogue, frame_id: int, change: Callable[[BlockPlace], BlockPlace]
) -> Dialogue:
    return _on_frame(
        dialogue,
        frame_id,
        lambda f: replace(f, blocks=(*f.blocks[:-1], change(f.blocks[-1]))) if f.blocks else f,
    )
