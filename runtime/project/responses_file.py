"""Reads ``responses.yml``: the lines that are said word for word.

Owns the packaged wording and the thin form of this version: one text a response, with
``interruptible: false`` for a greeting that can't be talked over.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.model import Greeting
from runtime.project.problems import Problems, nearest
from runtime.project.yaml_nodes import Entry, Node, Sequence
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_source import read_yaml

FILE = "responses.yml"

_NOTICE = "utter_session_notice"
_START = "utter_session_start"
_GOODBYE = "utter_hangup_goodbye"
_MODEL_ERROR = "utter_model_call_error"
_CHECK_INS = tuple(f"utter_silence_check_in_{n}" for n in (1, 2, 3))
_GREETINGS = (_NOTICE, _START)
_LATER_NAMES = ("utter_precondition_unmet", "utter_set_memory_button_skipped")
_LATER_KEYS = ("condition", "buttons", "metadata")
_PACKAGED = {
    _CHECK_INS[0]: "Are you still there?",
    _CHECK_INS[1]: "I can't hear you. Are you still on the line?",
    _CHECK_INS[2]: "I'm still here. Please say something if you can hear me.",
    _GOODBYE: "I'll end the call now. Goodbye.",
    _MODEL_ERROR: "I'm sorry, I can't answer that just now. Could you say it again?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """The lines of a project, packaged ones where the author wrote none."""

    greetings: tuple[Greeting, ...]
    check_ins: tuple[str, ...]
    goodbye: str
    model_error: str


def packaged_responses() -> Responses:
    """Return what is said when a project has no ``responses.yml``."""
    return _assemble({})


def read_responses(data: bytes, env: Mapping[str, str], problems: Problems) -> Responses:
    """Read the file; what is wrong goes into ``problems``."""
    top = Fields(read_yaml(data, FILE, problems, env), problems, "", Place(FILE))
    written: dict[str, Greeting] = {}
    for entry in top.section("responses").keys():
        line = _line(entry, problems)
        if line is not None:
            written[entry.key] = line
    top.done()
    return _assemble(written)


def _assemble(written: Mapping[str, Greeting]) -> Responses:
    def text(name: str) -> str:
        line = written.get(name)
        return line.text if line else _PACKAGED[name]

    return Responses(
        greetings=tuple(written[name] for name in _GREETINGS if name in written),
        check_ins=tuple(text(name) for name in _CHECK_INS),
        goodbye=text(_GOODBYE),
        model_error=text(_MODEL_ERROR),
    )


def _line(entry: Entry, problems: Problems) -> Greeting | None:
    known = (*_GREETINGS, *_PACKAGED)
    if entry.key in _LATER_NAMES or entry.key not in known:
        close = nearest(entry.key, known)
        later = entry.key in _LATER_NAMES or close is None
        problems.add(
            entry.place,
            "unsupported" if later else "unknown_key",
            f"the response '{entry.key}' is not supported yet in this version"
            if later
            else f"unknown response '{entry.key}'",
            "take it away" if later else f"did you mean '{close}'?",
        )
        return None
    node: Node = entry.value
    if isinstance(node, Sequence):
        if len(node.items) != 1:
            problems.add(
                node.place,
                "unsupported",
                "more than one variant of a response is not supported yet in this version",
                "keep one",
            )
            return None
        node = node.items[0]
    return _variant(node, entry, problems)


def _variant(node: Node, entry: Entry, problems: Problems) -> Greeting | None:
    if isinstance(node, MappingNode):
        fields = Fields(node, problems, entry.key, node.place)
        text = fields.required_text("text")
        switch = fields.entry("interruptible")
        interruptible = fields.flag("interruptible", True)
        fields.done(_LATER_KEYS)
        if switch is not None and not interruptible and entry.key not in _GREETINGS:
            problems.add(
                switch.place,
                "unsupported",
                "only a greeting can be 'interruptible: false' in this version",
                f"take it away, or move the text to '{_NOTICE}'",
            )
        return Greeting(text, interruptible) if text else None
    # A bare text is read through the same door, so that it gets the same messages.
    holder = MappingNode(entry.place, (Entry(entry.place, entry.key, node),))
    text = Fields(holder, problems, "", entry.place).required_text(entry.key)
    return Greeting(text) if text else None
