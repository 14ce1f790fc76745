"""The stack of skills: starting, ending, parking and giving back.

Owns which skill runs after which. Moving through the steps of a block is ``steps``; the fold of the
facts written here is ``runtime.conversation.dialogue``.
"""

from dataclasses import dataclass

from runtime.conversation.dialogue import GIVES_BACK, Frame
from runtime.conversation.events import (
    ConfirmationWithdrawn,
    EndHow,
    SkillEnded,
    SkillResumed,
    SkillStarted,
    StartCause,
    ToolSettled,
)
from runtime.engine.desk import Desk
from runtime.engine.gates import holds
from runtime.project.skill_model import BlockToken, Skill, SkillToken
from runtime.tools.runner import refusal

__all__ = ["CHANGED", "COMPLETED", "CONTINUE_INTERRUPTED", "Flow", "Stack"]

CHANGED = "its values have changed"
"""Why a held call is not held any more."""

COMPLETED = "default_completed"
CONTINUE_INTERRUPTED = "default_continue_interrupted"

MOST_FRAMES = 12
"""Skills on top of each other; a project that nests deeper goes round in a circle."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Something that the model can start."""

    id: str
    skill: str
    block: str | None = None
    is_reference: bool = False


class Stack:
    """The skills of one call."""

    def __init__(self, desk: Desk) -> None:
        """Write through ``desk``."""
        self._desk = desk

    # -- what can be started

    def flows(self) -> dict[str, Flow]:
        """What ``activate`` may name now, references of the active prose first."""
        found: dict[str, Flow] = {}
        top = self._desk.top
        skill = self._desk.skill_of(top)
        if top is not None and skill is not None and top.place is None:
            for flow in self._references(skill):
                found[flow.id] = flow
        busy = self._busy()
        for skill in self._desk.project.skills.values():
            if skill.id not in busy and skill.id not in found and self._is_startable(skill):
                found[skill.id] = Flow(skill.id, skill.id)
        return found

    def _busy(self) -> set[str]:
        """Skills that go on by themselves: what runs, what it runs for, what waits behind it."""
        dialogue = self._desk.state.dialogue
        waiting = {frame.skill for frame in dialogue.frames if frame.waiting_for is not None}
        parked = [chain for chain in dialogue.chains if chain[-1].is_parked]
        in_parked = {frame.skill for chain in parked for frame in chain}
        active = {frame.skill for chain in dialogue.chains[-1:] for frame in chain}
        return active | (waiting - in_parked)

    def wish_of(self, frame: Frame) -> Frame:
        """What the caller asked for, of which a frame is a part."""
        chains = self._desk.state.dialogue.chains
        return next((c[0] for c in chains if any(f.id == frame.id for f in c)), frame)

    def _references(self, skill: Skill) -> list[Flow]:
        read = self._desk.reader(skill.id)
        flows: list[Flow] = []
        for paragraph in skill.prose:
            if not holds(paragraph.condition, read):
                continue
            for part in paragraph.parts:
                if isinstance(part, BlockToken):
                    name = f"{skill.id}.{part.block}"
                    flows.append(Flow(name, skill.id, part.block, is_reference=True))
                elif isinstance(part, SkillToken) and self._can_start(part.skill):
                    flows.append(Flow(part.skill, part.skill, is_reference=True))
        return flows

    def _is_startable(self, skill: Skill) -> bool:
        is_offered_last = skill.id in self._desk.project.before_end
        if skill.hidden or (skill.engine_managed and not is_offered_last):
            return False
        return self._can_start(skill.id)

    def _can_start(self, skill_id: str) -> bool:
        skill = self._desk.project.skills.get(skill_id)
        if skill is None or skill.disabled or len(self._desk.state.dialogue.frames) >= MOST_FRAMES:
            return False
        return holds(skill.requires, self._desk.reader(skill.id))

    # -- moves

    def start(self, turn: int, skill: Skill, cause: StartCause) -> bool:
        """Put a skill on the stack, behind its precondition where that does not hold yet.

        Returns:
            Whether it was: skills that start each other without end are stopped at ``MOST_FRAMES``.
        """
        if len(self._desk.state.dialogue.frames) >= MOST_FRAMES:
            return False
        precondition = self._desk.project.orchestrator.preconditions.get(skill.precondition or "")
        waits = precondition is not None and not holds(
            precondition.satisfied_when, self._desk.reader(skill.id)
        )
        entry = skill.entry_block
        serving = self._resolver_of(precondition.name) if precondition is not None else None
        self._desk.record(
            turn,
            SkillStarted(
                self._desk.state.dialogue.last_frame + 1,
                skill.id,
                cause,
                entry.id if entry is not None else None,
                precondition.name if precondition is not None and waits else None,
                serving.id if serving is not None and waits else None,
            ),
        )
        if serving is not None:
            if waits and serving.is_parked:
                self.resume(turn, serving)
            return True  # what is under way for another skill serves this one as well
        resolver = (
            self._desk.project.skills.get(precondition.resolve_with)
            if precondition is not None and waits
            else None
        )
        if resolver is not None and resolver.id != skill.id:
            self.start(turn, resolver, "resolver")
        return True

    def _resolver_of(self, precondition: str) -> Frame | None:
        """What is bringing about a precondition now, for the active wish."""
        chain = (self._desk.state.dialogue.chains or [[]])[-1]
        pairs = zip(chain, chain[1:], strict=False)
        return next((above for below, above in pairs if below.waiting_for == precondition), None)

    def resume(self, turn: int, frame: Frame) -> None:
        """A parked skill goes on."""
        self._desk.record(turn, SkillResumed(frame.id))

    def end(self, turn: int, frame: Frame, how: EndHow) -> None:
        """Take a skill off the stack; what was held for it is settled."""
        self.withdraw(turn, "its skill has ended", frame.id)
        for place in frame.blocks:
            made = self._desk.state.tool_call(place.call_id) if place.call_id else None
            if made is not None and made.outcome is None and not made.started:
                reason = refusal("cancelled", "its skill has ended")
                self._desk.record(turn, ToolSettled(made.call_id, "cancelled", reason))
        self._desk.record(turn, SkillEnded(frame.id, frame.skill, how))

    def cancel(self, turn: int, how: EndHow = "cancelled") -> None:
        """Abandon the active skill, and with it those that only wait for it.

        So do other wishes that a resolver was to serve as well.
        """
        waited_for: set[str | None] = set()
        while (top := self._desk.top) is not None:
            self.end(turn, top, how)
            if top.waiting_for is not None:
                waited_for.add(top.waiting_for)
            below = self._desk.state.dialogue.top
            is_served = below is not None and below.waiting_for in waited_for
            if top.cause not in GIVES_BACK and not is_served:
                break

    def link(self, turn: int, frame: Frame, skill: Skill) -> None:
        """Hand over to another skill, which takes this one's place."""
        self.end(turn, frame, "linked")
        self.start(turn, skill, "activated" if frame.cause == "engine" else frame.cause)

    def go_to(self, turn: int, flow: Flow) -> None:
        """Start what the model named, or go back to it if it is parked."""
        parked = [
            chain[-1]
            for chain in self._desk.state.dialogue.chains
            if chain[-1].is_parked and any(frame.skill == flow.skill for frame in chain)
        ]
        top = self._desk.top
        if top is not None and self._is_engines(top):
            # The caller's wish answers "shall we go on?" and "anything else?" as well.
            self.end(turn, top, "dropped")
        if parked and not flow.is_reference:
            self._desk.record(turn, SkillResumed(parked[-1].id, over=True))
            return
        skill = self._desk.project.skills[flow.skill]
        self.start(turn, skill, "delegated" if flow.is_reference else "activated")

    def withdraw(self, turn: int, reason: str, frame: int) -> None:
        """Nobody waits for the call that is held for a frame any more, if there is one."""
        held = self._desk.state.dialogue.held_for(frame)
        if held is None:
            return
        self._desk.record(turn, ConfirmationWithdrawn(held.call_id, reason))
        self._desk.record(
            turn, ToolSettled(held.call_id, "cancelled", refusal("cancelled", reason))
        )

    def _is_engines(self, frame: Frame) -> bool:
        return frame.cause == "engine"
