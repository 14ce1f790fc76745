"""The planner: the rules in their order, the first that decides wins.

Owns the order alone. What comes first is what a caller would be most upset to see done wrongly: a
held call before all else, then words that steer, then an answer, then a wish.
"""

from runtime.models.offline.collecting import answer_question, not_caught, revise
from runtime.models.offline.confirming import answer_confirmation, not_confirmed
from runtime.models.offline.following import (
    after_cut_off,
    after_refusal,
    nothing_said,
    outcome,
    rest,
)
from runtime.models.offline.giving import recall
from runtime.models.offline.plan import Plan, Rule, Scene
from runtime.models.offline.prose import follow_prose
from runtime.models.offline.steering import acknowledge, steer
from runtime.models.offline.wishing import answer_from_search, choose_flow, help_nobody, wish

__all__ = ["RULES", "plan"]

RULES: tuple[Rule, ...] = (
    after_refusal,
    answer_from_search,
    nothing_said,
    answer_confirmation,
    after_cut_off,
    steer,
    choose_flow,
    answer_question,
    recall,
    revise,
    outcome,
    acknowledge,
    follow_prose,
    wish,
    not_caught,
    not_confirmed,
    help_nobody,
    rest,
)


def plan(scene: Scene) -> Plan:
    """Decide; nothing to say where no rule does."""
    for rule in RULES:
        decided = rule(scene)
        if decided is not None:
            return decided
    return Plan()
