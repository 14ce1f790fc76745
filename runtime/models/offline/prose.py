"""Skills in free prose, which can't be followed without a language model.

Owns what is done of them all the same: the one block or skill that the prose refers to, and fields
that the caller clearly gives. Authors' tools are never called.
"""

from runtime.models.offline.giving import unasked_values
from runtime.models.offline.plan import Plan, PlannedCall, Scene, calls, says

__all__ = ["follow_prose"]


def follow_prose(scene: Scene) -> Plan | None:
    """Start the only reference, end what came back from it, set what was given, or say so."""
    situation = scene.situation
    if not situation.in_prose or situation.collecting is not None or situation.pending is not None:
        return None
    started = [call.arguments.get("flow_id") for call in scene.made if call.tool == "activate"]
    references = [flow for flow in situation.flows if flow.is_reference]
    if situation.has_returned or any(flow.id in started for flow in references):
        return _come_back(scene, has_one=len(references) == 1)
    if len(references) == 1 and scene.may("activate", flow_id=references[0].id):
        return calls("activate", flow_id=references[0].id)
    values = unasked_values(scene) if scene.said else {}
    if values:
        return Plan(scene.lines.noted, (PlannedCall("set_fields", values),))
    return says(scene.lines.not_for_me) if scene.said else None


def _come_back(scene: Scene, *, has_one: bool) -> Plan | None:
    """What the prose was for is done: the block has ended and the prose goes on."""
    if has_one and scene.may("complete_skill"):
        return calls("complete_skill")
    return None
