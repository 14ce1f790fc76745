"""Finds steps that lead back to themselves without anybody being asked anything: endless circles.

Owns the walk over the blocks of one skill. A circle counts when it goes through a ``call`` or
``link`` of a block, or when nothing in it decides where to go, and when no step in it waits: a step
that waits lets the caller change something. Tools don't wait.
"""

from collections.abc import Iterator, Mapping
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
    Step,
)

__all__ = ["check_circles"]

_Spot: TypeAlias = tuple[str, str]
"""(block, step)."""


def check_circles(blocks: tuple[Block, ...], problems: Problems) -> None:
    """Note each circle once, at its first step in the order of the file."""
    flow = _Flow({block.id: block for block in blocks})
    told: set[_Spot] = set()
    for block in blocks:
        for step in block.steps:
            spot = (block.id, step.id)
            if spot in told:
                continue
            circle = flow.circle(spot)
            if circle is None:
                continue
            told |= circle
            elsewhere = {other for other, _ in circle} - {block.id}
            through = f" through the block '{min(elsewhere)}'" if elsewhere else ""
            problems.add(
                step.place,
                "endless_circle",
                f"the step '{step.id}' leads back to itself{through}, and nothing in between waits "
                "for the caller",
                "put a step between that waits (collect, instructions, action_listen), or lead out",
            )


@dataclass(frozen=True, slots=True)
class _Flow:
    blocks: Mapping[str, Block]

    def circle(self, start: _Spot) -> set[_Spot] | None:
        """The spots of an endless circle through ``start``; None when there is none."""
        certain = self._walk(start, certain_only=True)
        if start in certain:
            return {spot for spot in certain if start in self._walk(spot, certain_only=True)}
        step = self._step(start)
        if not isinstance(step, CallStep | LinkStep) or step.kind != "block":
            return None
        reached = self._walk(start, certain_only=False)
        if start not in reached:
            return None
        return {spot for spot in reached if start in self._walk(spot, certain_only=False)}

    def _walk(self, start: _Spot, *, certain_only: bool) -> set[_Spot]:
        """All spots that are reached from ``start`` before anything waits."""
        reached: set[_Spot] = set()
        ahead = [start]
        while ahead:
            for spot in self._after(ahead.pop(), certain_only):
                if spot not in reached:
                    reached.add(spot)
                    ahead.append(spot)
        return reached

    def _after(self, spot: _Spot, certain_only: bool) -> Iterator[_Spot]:
        step = self._step(spot)
        if step is None or _waits(step):
            return
        if isinstance(step, CallStep | LinkStep):
            target = self.blocks.get(step.target)
            if target is not None:
                yield target.id, target.steps[0].id
            is_back = target is not None and self._passes(target, certain_only, frozenset())
            if isinstance(step, LinkStep) or not is_back:
                return
        if certain_only and len(step.next) > 1:
            return
        yield from ((spot[0], branch.target) for branch in step.next if branch.target != END)

    def _passes(self, block: Block, certain_only: bool, within: frozenset[str]) -> bool:
        """Whether the block can come to its end before anything waits."""
        if block.id in within:
            return False
        within |= {block.id}
        reached: set[str] = set()
        ahead = [block.steps[0].id]
        while ahead:
            step_id = ahead.pop()
            step = block.step(step_id)
            if step_id == END or isinstance(step, EndStep):
                return True
            if step is None or step_id in reached or _waits(step):
                continue
            reached.add(step_id)
            if certain_only and len(step.next) > 1:
                continue
            if isinstance(step, CallStep | LinkStep):
                target = self.blocks.get(step.target)
                if target is None or not self._passes(target, certain_only, within):
                    continue
                if isinstance(step, LinkStep):
                    return True
            ahead += [branch.target for branch in step.next]
        return False

    def _step(self, spot: _Spot) -> Step | None:
        block = self.blocks.get(spot[0])
        return block.step(spot[1]) if block is not None else None


def _waits(step: Step) -> bool:
    """Whether the caller is heard in it, or the call is over after it."""
    match step:
        case CollectStep() | InstructStep() | EndStep():
            return True
        case ActionStep(kind=kind):
            return kind != "utter"
        case CallStep(kind=kind) | LinkStep(kind=kind):
            return kind != "block"
        case _:
            return False
