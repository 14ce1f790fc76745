"""Finds steps that lead back to themselves without anybody being asked anything: endless circles.

Owns the walk over the blocks of one skill, and over those of all skills that hand over to each
other. A circle counts when it goes through a ``link``, or when there is no way out of it, and when
no step in it waits: a step that waits lets the caller change something. Tools don't
wait, unless the caller is asked before they run.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from runtime.project.problems import Problems
from runtime.project.skill_model import (
    END,
    ActionStep,
    Block,
    CallStep,
    CollectStep,
    EndStep,
    InstructStep,
    LinkStep,
    Skill,
    Step,
    ToolStep,
)

__all__ = ["check_circles", "check_skill_circles"]

_Home: TypeAlias = tuple[str, str]
"""(skill, block)."""
_Spot: TypeAlias = tuple[_Home, str]
"""(block, step)."""

_MEND = "put a step between that waits (collect, instructions, action_listen), or lead out"


def check_circles(
    blocks: tuple[Block, ...], problems: Problems, confirmed: Collection[str] = ()
) -> None:
    """Note each circle within one skill once, at its first step in the order of the file.

    Args:
        blocks: The skill's.
        problems: Grows by the circles.
        confirmed: Tools that the caller is asked about before they run.
    """
    homes = {("", block.id): block for block in blocks}
    flow = _Flow(homes, {}, frozenset(("", tool) for tool in confirmed))
    told: set[_Spot] = set()
    for block in blocks:
        for step in block.steps:
            spot = ("", block.id), step.id
            circle = None if spot in told else flow.circle(spot)
            if circle is None:
                continue
            told |= circle
            elsewhere = {other for (_, other), _ in circle} - {block.id}
            _tell(step, f" through the block '{min(elsewhere)}'" if elsewhere else "", problems)


def check_skill_circles(
    skills: Mapping[str, Skill], whole: Collection[str], problems: Problems
) -> None:
    """Note each circle that skills make by calling or linking each other, or themselves.

    Args:
        skills: All of the project.
        whole: Ids of those that were read to their end; others may hold a step that waits.
        problems: Grows by the circles.
    """
    flow = _Flow(
        {
            (skill.id, b.id): b
            for skill in skills.values()
            if skill.id in whole
            for b in skill.blocks
        },
        # Prose is the model's, which talks to the caller.
        {s.id: (s.id, e.id) for s in skills.values() if (e := s.entry_block) and not s.prose},
        frozenset(
            (skill.id, tool)
            for skill in skills.values()
            for tool, constraint in skill.constraints.items()
            if constraint.confirmation is not None
        ),
    )
    told: set[_Spot] = set()
    for (owner, block_id), block in flow.blocks.items():
        for step in block.steps:
            spot = (owner, block_id), step.id
            leaves = isinstance(step, CallStep | LinkStep) and step.kind == "skill"
            circle = flow.circle(spot) if leaves and spot not in told else None
            if circle is None:
                continue
            told |= circle
            elsewhere = {other for (other, _), _ in circle} - {owner}
            _tell(step, f" through the skill '{min(elsewhere)}'" if elsewhere else "", problems)


def _tell(step: Step, through: str, problems: Problems) -> None:
    problems.add(
        step.place,
        "endless_circle",
        f"the step '{step.id}' leads back to itself{through}, and nothing in between waits "
        "for the caller",
        _MEND,
    )


@dataclass(frozen=True, slots=True)
class _Flow:
    blocks: Mapping[_Home, Block]
    entries: Mapping[str, _Home]
    """Where a skill begins; one that is not here waits."""
    confirmed: frozenset[tuple[str, str]]
    """(skill, tool that waits for a yes)."""

    def circle(self, start: _Spot) -> set[_Spot] | None:
        """The spots of an endless circle through ``start``; None when there is none."""
        reached = self._walk(start)
        if start not in reached:
            return None
        if not isinstance(self._step(start), LinkStep) and self._has_way_out(start, reached):
            return None
        return {spot for spot in reached if start in self._walk(spot)}

    def _walk(self, start: _Spot) -> set[_Spot]:
        """All spots that are reached from ``start`` before anything waits."""
        reached: set[_Spot] = set()
        ahead = [start]
        while ahead:
            for spot in self._after(ahead.pop()):
                if spot not in reached:
                    reached.add(spot)
                    ahead.append(spot)
        return reached

    def _after(self, spot: _Spot) -> Iterator[_Spot]:
        home, _ = spot
        step = self._step(spot)
        if step is None or self._waits(home, step):
            return
        if isinstance(step, CallStep | LinkStep):
            target = self._target(home, step)
            if target is not None:
                yield target, self.blocks[target].steps[0].id
            is_back = target is not None and self._passes(target, frozenset())
            if isinstance(step, LinkStep) or not is_back:
                return
        yield from ((home, branch.target) for branch in step.next if branch.target != END)

    def _has_way_out(self, start: _Spot, reached: set[_Spot]) -> bool:
        """Whether some way from ``start`` comes to a step that waits, or to the end."""
        steps = [(home, self._step((home, step_id))) for home, step_id in reached]
        # The end of a block that was called leads back; that of one that was linked does not.
        ends = {start[0]} | {
            self._target(home, step) for home, step in steps if isinstance(step, LinkStep)
        }
        return any(
            step is None
            or (self._waits(home, step) and not isinstance(step, EndStep))
            or (home in ends and self._ends(home, step))
            for home, step in steps
        )

    def _ends(self, home: _Home, step: Step) -> bool:
        """Whether the block may be over after a step."""
        match step:
            case EndStep():
                return True
            case LinkStep():
                return False
            case CallStep():
                target = self._target(home, step)
                is_back = target is not None and self._passes(target, frozenset())
            case _:
                is_back = True
        return is_back and any(branch.target == END for branch in step.next)

    def _passes(self, home: _Home, within: frozenset[_Home]) -> bool:
        """Whether the block can come to its end before anything waits."""
        if home in within:
            return False
        within |= {home}
        block = self.blocks[home]
        reached: set[str] = set()
        ahead = [block.steps[0].id]
        while ahead:
            step_id = ahead.pop()
            step = block.step(step_id)
            if step_id == END or isinstance(step, EndStep):
                return True
            if step is None or step_id in reached or self._waits(home, step):
                continue
            reached.add(step_id)
            if isinstance(step, CallStep | LinkStep):
                target = self._target(home, step)
                if target is None or not self._passes(target, within):
                    continue
                if isinstance(step, LinkStep):
                    return True
            ahead += [branch.target for branch in step.next]
        return False

    def _target(self, home: _Home, step: CallStep | LinkStep) -> _Home | None:
        is_block = step.kind == "block"
        found = (home[0], step.target) if is_block else self.entries.get(step.target)
        return found if found in self.blocks else None

    def _step(self, spot: _Spot) -> Step | None:
        block = self.blocks.get(spot[0])
        return block.step(spot[1]) if block is not None else None

    def _waits(self, home: _Home, step: Step) -> bool:
        """Whether the caller is heard in it, or the call is over after it."""
        match step:
            case CollectStep() | InstructStep() | EndStep():
                return True
            case ActionStep(kind=kind):
                return kind != "utter"
            case ToolStep(tool=tool):
                return (home[0], tool) in self.confirmed
            case CallStep(kind="skill", target=target) | LinkStep(kind="skill", target=target):
                return self.entries.get(target) not in self.blocks
            case CallStep(kind=kind):
                return kind != "block"
            case _:
                return False
