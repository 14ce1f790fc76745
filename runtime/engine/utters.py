"""``utter`` rules: responses said when a skill starts, or when something becomes true.

Owns when a rule is due: once each time its skill is started, ``activate`` at the start, ``when``
the first time its condition holds.
"""

from runtime.conversation.dialogue import Frame
from runtime.conversation.events import UtterFired
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
    read = desk.reader(skill.id)
    for index, rule in enumerate(skill.utters):
        if index in frame.said_rules:
            continue
        if rule.on_activate or (rule.when is not None and holds(rule.when, read)):
            desk.record(scope.turn, UtterFired(frame.id, index))
            await responses.give(scope, rule.response)
            return True
    return False
