"""The words of a language, as one record.

Owns the shape of the record and which one a language tag gets. English is packaged
(``english.py``); any other language gets a bare record, with which digits, written dates, times,
addresses and labels of choices are read, and no number words; of some, words that deny.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from runtime.models.offline.reading.denial_words import DenialWords
from runtime.models.offline.reading.forms import Sense, form_of
from runtime.models.offline.reading.other_denial import OTHER_DENIALS
from runtime.models.offline.reading.tokens import Phrases

__all__ = ["Lexicon", "lexicon_for"]


def _none() -> Mapping[str, int]:
    return {}


def _no_words() -> Mapping[str, str]:
    return {}


def _no_phrases() -> Mapping[str, tuple[str, ...]]:
    return {}


def _no_senses() -> Mapping[str, Sense]:
    return {}


_NOTHING_DENIED = DenialWords()


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """What the readers know of a language; words are lower case with straight apostrophes."""

    language: str
    day_first: bool = True
    """How ``3/5`` is read: the third of May, or March the fifth."""
    decimal_comma: bool = True

    # numbers
    units: Mapping[str, int] = field(default_factory=_none)
    """zero..nine"""
    teens: Mapping[str, int] = field(default_factory=_none)
    tens: Mapping[str, int] = field(default_factory=_none)
    scales: Mapping[str, int] = field(default_factory=_none)
    """hundred and up"""
    ordinals: Mapping[str, int] = field(default_factory=_none)
    fractions: Mapping[str, float] = field(default_factory=dict[str, float])
    sounds_like: Mapping[str, int] = field(default_factory=_none)
    """Words that speech-to-text writes for a digit; counted only between digits."""
    zero_letters: frozenset[str] = frozenset()
    """Digits only beside digits: "oh"."""
    repeats: Mapping[str, int] = field(default_factory=_none)
    """double, triple"""
    groups: Mapping[str, int] = field(default_factory=_none)
    """dozen"""
    articles: frozenset[str] = frozenset()
    conjunction: str = ""
    minus: frozenset[str] = frozenset()
    point: frozenset[str] = frozenset()
    numeral_before: frozenset[str] = frozenset()
    """Words after which "one" is a number; after any other word it stands for a thing."""
    currencies: Mapping[str, float] = field(default_factory=dict[str, float])
    """Words for money, with what one of them is worth of the main unit."""

    # spelling
    signs: Mapping[str, str] = field(default_factory=_no_words)
    """dash, dot, underscore: the character that they name"""
    alphabet: Mapping[str, str] = field(default_factory=_no_words)
    """alfa, bravo"""
    letter_names: Mapping[str, str] = field(default_factory=_no_words)
    """bee, cee: counted only beside letters"""
    as_in: tuple[str, ...] = ()
    """"B as in boy"."""
    capital: tuple[str, ...] = ()
    at_sign: frozenset[str] = frozenset()

    # dates and times
    months: Mapping[str, int] = field(default_factory=_none)
    weekdays: Mapping[str, int] = field(default_factory=_none)
    """Monday = 0."""
    day_words: Mapping[str, int] = field(default_factory=_none)
    """today, tomorrow, "the day after tomorrow": days from today"""
    periods: Mapping[str, str] = field(default_factory=_no_words)
    """days, weeks: ``day week month year``"""
    clock_words: Mapping[str, str] = field(default_factory=_no_words)
    """noon and midnight: HH:MM"""
    day_parts: Mapping[str, str] = field(default_factory=_no_words)
    """am, "in the morning": ``am pm night``"""

    # talk
    fillers: tuple[str, ...] = ()
    polite: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    """What begins a correction: "i meant", "make that"."""
    lead_ins: tuple[str, ...] = ()
    """What comes before a value: "my address is"."""
    name_leads: Mapping[str, tuple[str, ...]] = field(default_factory=_no_phrases)
    """``strong`` = only a name follows; ``weak`` = anything may follow."""
    titles: Mapping[str, str] = field(default_factory=_no_words)
    name_particles: frozenset[str] = frozenset()
    not_names: frozenset[str] = frozenset()
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=_no_phrases)
    """``yes weak_yes no act hedge neutral other``: an ``act`` is a "cancel", ``other`` what only
    looks like an answer."""
    controls: Mapping[str, tuple[str, ...]] = field(default_factory=_no_phrases)
    """By kind of control."""
    choice_noise: frozenset[str] = frozenset()
    positions: Mapping[str, int] = field(default_factory=_none)
    """first = 1, last = -1"""
    number_nouns: frozenset[str] = frozenset()
    """option, number: what a position is counted by"""
    question_noise: frozenset[str] = frozenset()
    """Words that say nothing where the question's own words are said back."""
    denial: DenialWords = _NOTHING_DENIED
    alternative: str = ""
    """or"""
    bounds: frozenset[str] = frozenset()
    """before, after: a time behind one of them is no answer by itself."""
    number_bounds: frozenset[str] = frozenset()
    """over, than: the same for a number."""
    recurring: frozenset[str] = frozenset()
    """every, any: no one day is meant by a weekday behind one of them."""
    forms: Mapping[str, str] = field(default_factory=_no_words)
    """Irregular forms of verbs: broke, broken: break"""
    senses: Mapping[str, str] = field(default_factory=_no_words)
    """Words that stand for one another, by a name of their own."""
    denied_senses: Mapping[str, Sense] = field(default_factory=_no_senses)
    """The same for words that were denied."""

    @cached_property
    def senses_by_form(self) -> Mapping[str, str]:
        """``senses`` by the form that ``form_of`` gives."""
        return {form_of(word, self.forms): sense for word, sense in self.senses.items()}

    @cached_property
    def denied_senses_by_form(self) -> Mapping[str, Sense]:
        """``denied_senses`` by the form that ``form_of`` gives."""
        return {form_of(word, self.forms): sense for word, sense in self.denied_senses.items()}

    @cached_property
    def filler_phrases(self) -> Phrases:
        """Fillers alone."""
        return Phrases({"filler": self.fillers})

    @cached_property
    def padding(self) -> Phrases:
        """Fillers and politeness."""
        return Phrases({"filler": (*self.fillers, *self.polite)})

    @cached_property
    def lead_phrases(self) -> Phrases:
        """Fillers and what comes before a value."""
        return Phrases({"filler": self.fillers, "lead": self.lead_ins})

    @cached_property
    def correction_phrases(self) -> Phrases:
        """What begins a correction."""
        return Phrases({"correction": self.corrections})

    @cached_property
    def name_phrases(self) -> Phrases:
        """What comes before a name."""
        return Phrases({"filler": self.fillers, **self.name_leads})

    @cached_property
    def answer_phrases(self) -> Phrases:
        """Yes, no, and what stands beside them."""
        padding = (*self.fillers, *self.polite, *self.answers.get("neutral", ()))
        return Phrases(
            {**self.answers, "neutral": padding} | {"hedge": self.answers.get("hedge", ())}
        )

    @cached_property
    def control_phrases(self) -> Phrases:
        """What steers the conversation."""
        return Phrases(self.controls)

    @cached_property
    def day_phrases(self) -> Phrases:
        """Names of days near today, each its own kind."""
        return Phrases({phrase: (phrase,) for phrase in self.day_words})

    @cached_property
    def day_part_phrases(self) -> Phrases:
        """Parts of the day, each its own kind."""
        return Phrases({phrase: (phrase,) for phrase in self.day_parts})

    @cached_property
    def as_in_phrases(self) -> Phrases:
        """What stands between a letter and the word it begins."""
        return Phrases({"as_in": self.as_in})

    @cached_property
    def capital_phrases(self) -> Phrases:
        """What says that the next letter is a capital."""
        return Phrases({"capital": self.capital})


@lru_cache(maxsize=64)
def lexicon_for(language: str) -> Lexicon:
    """Return the words of a BCP 47 tag, bare for a language that is not packaged.

    English reads ``3/5`` with the month first (``en``, ``en-US``), except in the regions that put
    the day first: ``en-GB``, Ireland, Australia, New Zealand, India, South Africa.
    """
    from runtime.models.offline.reading.english import ENGLISH

    tag = language.strip().replace("_", "-").casefold()
    base, _, region = tag.partition("-")
    if base in ("", "en"):
        day_first = region in ("gb", "ie", "au", "nz", "in", "za")
        return replace(ENGLISH, language=tag or "en", day_first=day_first)
    return Lexicon(
        language=tag,
        day_first=base not in ("zh", "ja", "ko", "hu", "lt"),
        denial=OTHER_DENIALS.get(base, _NOTHING_DENIED),
    )
