"""The buttons a response can carry; titles are read aloud on voice."""

from dataclasses import dataclass

__all__ = ["Button"]


@dataclass(frozen=True, slots=True)
class Button:
    """One button under a response."""

    title: str
    value: str
    ref: str | None = None
    """Fully qualified memory field a tap writes ``value`` to; None = the tap is plain input."""
