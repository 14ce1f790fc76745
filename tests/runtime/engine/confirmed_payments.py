"""What the tests of confirmations share: a desk whose payments must be confirmed."""

from runtime.models.scripted_model import Call, Part
from tests.fakes.written_projects import skill
from tests.runtime.engine.bank_files import bank
from tests.runtime.engine.helpers import Call as Connected

__all__ = [
    "ARGUMENTS",
    "CONFIRMED",
    "KNOWN",
    "NO",
    "NOTHING",
    "PAY",
    "PHRASED",
    "PROSE",
    "QUESTION",
    "RESOLVE",
    "YES",
    "runs",
]

RESOLVE = "resolve_tool_confirmation"
YES = Call(RESOLVE, {"confirmed": True})
NO = Call(RESOLVE, {"confirmed": False})
PAY = Call("pay", {"payee": "Haus Nord", "amount": 240})
KNOWN = (("desk", "payee", "Haus Nord"), ("desk", "amount", 240))
QUESTION = "Shall I pay 240 euros to Haus Nord?"
NOTHING: list[Part] = []
"""The model has nothing to add to what the engine has said."""

CONFIRMED = """
    tool_constraints:
      - pay:
          requires_confirmation:
            enabled: true
            utter_for_confirmation: utter_ask_pay
            utter_on_user_denial: utter_denied
          on_success: utter_paid
          on_failure: utter_not_paid
"""
PHRASED = "tool_constraints: [{pay: {requires_confirmation: {enabled: true}}}]"

PROSE = bank(
    "Help the caller.\n",
    CONFIRMED,
    skills__shop__skill=skill(
        """
        :::ordered_block id=main
        steps:
          - id: tell
            action: utter_shop
        :::
        """
    ),
    skills__shop__responses="responses: {utter_shop: [The shop is closed.]}",
)


def runs(call: Connected) -> list[str]:
    """The arguments of every call of an author's tool that ran."""
    return [str(e["text"]) for e in call.voice.happened("tool_started") if e["tool"] == "pay"]


ARGUMENTS = '{"amount":240,"payee":"Haus Nord"}'
