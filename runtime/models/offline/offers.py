"""What can be done, as it is told to a caller.

Owns how a flow is named inside a sentence, which flow is for a person, and the list of all.
"""

from runtime.models.offline.plan import Scene, joined
from runtime.models.offline.reading import control_words
from runtime.models.situation import FlowOption, inside_sentence

__all__ = ["LEAST_PERSON", "list_of_flows", "means_person", "spoken_flow"]

LEAST_PERSON = 0.35
"""How sure it must be that a person is wanted, from 0 to 1."""
_MOST_NAMED = 4


def spoken_flow(flow: FlowOption) -> str:
    """Write a flow's name as it stands inside a sentence."""
    return inside_sentence(" ".join(flow.name.split()).rstrip(".!?"))


def means_person(scene: Scene, flow: FlowOption) -> bool:
    """Whether it puts the caller through to somebody."""
    texts = (flow.name, *flow.examples, flow.description)
    found = (control_words(text, scene.lexicon) for text in texts if text)
    return any(c is not None and c.kind == "human" and c.confidence >= LEAST_PERSON for c in found)


def list_of_flows(scene: Scene) -> str:
    """Say what can be done, a person last and always among it; empty where there is nothing."""
    flows = [flow for flow in scene.situation.flows if not flow.is_reference]
    persons = [flow for flow in flows if means_person(scene, flow)][:1]
    others = [flow for flow in flows if flow not in persons]
    named = (*others[: _MOST_NAMED - len(persons)], *persons)
    if not named:
        return ""
    options = joined(tuple(spoken_flow(flow) for flow in named), scene.lines.joint)
    return scene.lines.can_do.format(options=options)
