"""The words by which a language denies, and those by which it goes on after it.

Owns the shape of the record. English is in ``english_denial.py``; a language without a record
denies nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from runtime.models.offline.reading.tokens import Phrases

__all__ = ["DenialWords"]


def _no_phrases() -> Mapping[str, tuple[str, ...]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class DenialWords:
    """Words are lower case with straight apostrophes."""

    cues: Mapping[str, tuple[str, ...]] = field(default_factory=_no_phrases)
    """What denies, by how far it reaches.

    ``clause`` the whole clause ("didn't"), ``part`` what follows ("not", "instead of"), ``none``
    the whole clause unless an exception follows ("nobody but"), ``except`` what follows, which is
    taken out of all there is; ``neutral`` only looks like a denial ("why not"), and so does a
    ``tag`` with nothing behind it ("isn't it?").
    """
    auxiliaries: frozenset[str] = frozenset()
    """After one of them a ``part`` denies the whole clause: "was not"."""
    verdicts: frozenset[str] = frozenset()
    """After a ``part``, what judges all that was said before: "not possible"."""
    refusal: str = ""
    """"No": an answer in most places."""
    refusal_after: frozenset[str] = frozenset()
    """Words after which it denies what follows: "there's no"."""
    needs: frozenset[str] = frozenset()
    """Words before which it does too: "no insurance needed"."""
    but: str = ""
    """Begins a clause, except after a word for all there is."""
    universal: frozenset[str] = frozenset()
    """any, every, all"""
    other: frozenset[str] = frozenset()
    """ "The other one": what was not denied."""
    subjects: frozenset[str] = frozenset()
    """Begin a clause of their own."""
    speakers: frozenset[str] = frozenset()
    """Those of them by which the caller means themselves."""
    objects: frozenset[str] = frozenset()
    """Begin one only before a verb: "it"."""
    verbs: frozenset[str] = frozenset()
    """What shows that one of ``objects`` is the subject."""
    pointing: frozenset[str] = frozenset()
    """ "It's the gold one I don't want": what begins such a clause."""
    links: frozenset[str] = frozenset()
    """Words that tie a clause to the one before: "think", "if", "because"."""
    wants: frozenset[str] = frozenset()
    """Verbs after which "that" is an object and ties nothing."""
    breaks: frozenset[str] = frozenset()
    """Words that always begin a clause: "then"."""
    restarts: tuple[str, ...] = ()
    """What begins a clause after a denial: "make it", "just"."""
    leaning: frozenset[str] = frozenset()
    """Words after which a restart is none: "really make it"."""
    things: frozenset[str] = frozenset()
    """After one of them an article begins another thing: "not the gold one the blue one"."""
    articles: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()
    """Words of a clause that only refuses what was said before it: "thursday, no good"."""

    @cached_property
    def cue_phrases(self) -> Phrases:
        """What denies, by its kind."""
        return Phrases(self.cues)

    @cached_property
    def restart_phrases(self) -> Phrases:
        """What begins a clause after a denial."""
        return Phrases({"restart": self.restarts})
