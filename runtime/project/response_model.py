"""A response as the engine delivers it: variants, values, buttons.

Owns the records of ``responses.yml``. Choosing a variant and filling it in is
``runtime.engine.responses``.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from runtime.errors import Place
from runtime.project.conditions import Condition

__all__ = ["ButtonSource", "Response", "StaticButton", "TextPart", "ValuePart", "Variant"]


@dataclass(frozen=True, slots=True)
class StaticButton:
    """One written button; a tap sends ``payload``."""

    title: str
    payload: str
    """As written; the title where none was."""
    place: Place = field(default=Place(""), compare=False)


@dataclass(frozen=True, slots=True)
class ButtonSource:
    """``buttons: {source: <tool>}``: a tool that the engine calls before delivering."""

    tool: str
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class ValuePart:
    """``{session.<namespace>.<field>}``, or ``{field}`` (namespace empty: the active skill's, then
    the project's).
    """

    namespace: str
    name: str
    place: Place = field(default=Place(""), compare=False)


TextPart: TypeAlias = str | ValuePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One wording."""

    parts: tuple[TextPart, ...]
    condition: Condition | None = None
    condition_place: Place = field(default=Place(""), compare=False)
    buttons: tuple[StaticButton, ...] | ButtonSource = ()
    rephrase: bool = False
    interruptible: bool = True
    place: Place = Place("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A named response; conditioned variants are tried in order, then the one default."""

    name: str
    variants: tuple[Variant, ...]
    """Never empty."""
    place: Place = Place("")
