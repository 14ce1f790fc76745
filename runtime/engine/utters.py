"""``utter`` rules: responses said when a skill starts, or when something becomes true.

Owns when a rule is due: once each time its skill is started, ``activate`` at the start, ``when``
the first time its condition becomes true. One that held at the start has become nothing: it is due
only after it did not hold for a while.
"""

from runtime.conversation.dialogue import Frame
from runtime.conversation.events import UtterFired, UtterLooked
from runtime.engine.desk import Desk
from runtime.engine.gates import holds
from runtime.engine.responses import Responses
from runtime.engine.scope import TurnScope
from runtime.project.skill_model import Skill

__all__ = ["say_due"]


async def say_due(
    desk: Desk, responses: Responses, scope: TurnScope, frame: Frame, skill: Skill
) -> bool:
    """Say the first rule that is due; return whether there was one."""
    holding = _holding(desk, frame, skill)
    before = holding if frame.held_rules is None else frame.held_rules & holding
    if before != frame.held_rules and any(rule.when is not None for rule in skill.utters):
        desk.record(scope.turn, UtterLooked(frame.id, tuple(sorted(before))))
    for index, rule in enumerate(skill.utters):
        has_become_true = index in holding and index not in before
        if index not in frame.said_rules and (rule.on_activate or has_become_true):
            desk.record(scope.turn, UtterFired(frame.id, index))
            await responses.give(scope, rule.response)
            return True
    return False


def _holding(desk: Desk, frame: Frame, skill: Skill) -> frozenset[int]:
    """Rules whose condition holds now and that were not said."""
    read = desk.reader(skill.id)
    return frozenset(
        index
        for index, rule in enumerate(skill.utters)
        if rule.when is not None and index not in frame.said_rules and holds(rule.when, read)
    )
