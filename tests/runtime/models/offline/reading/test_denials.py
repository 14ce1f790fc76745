"""What of a caller's words is denied, and how far a denial reaches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.models.offline.reading import Choice, lexicon_for, read_choice, weigh_choices
from runtime.models.offline.reading.denials import affirmed, find_denials
from runtime.models.offline.reading.tokens import tokenize


def left(said: str) -> str:
    return " ".join(token.norm for token in tokenize(affirmed(said)).words)


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("it was not stolen", ""),
        ("no it wasn't stolen, it's just broken", "it's just broken"),
        ("nobody stole it it was lost", "it was lost"),
        ("I don't think it was stolen", ""),
        ("I'm not sure if it was stolen", ""),
        ("I can't remember if I lost it or it was stolen", ""),
        ("blue not gold", "blue"),
        ("not the gold one the blue one", "the blue one"),
        ("not the gold one but the blue one", "but the blue one"),
        ("friday instead of monday", "friday"),
        ("thursday is no good make it friday", "make it friday"),
        ("thursday, no good", ""),
        ("thursday? no, friday", "no friday"),
        ("friday no", ""),
        ("nine I can't do", ""),
        ("nine, that doesn't work", ""),
        ("it's broken, it doesn't work", "it's broken"),
        ("it's the gold one I don't want", ""),
        ("I can't really make nine", ""),
        ("it was lost it wasn't stolen", "it was lost"),
        ("it was lost and not stolen", "it was lost and"),
        ("anyone but Chen", "anyone"),
        ("no insurance needed", ""),
        ("there's no gold card", ""),
        ("wasn't it stolen", ""),
    ],
)
def test_a_denial_reaches_as_far_as_it_is_meant(said: str, rest: str) -> None:
    """With and without punctuation; where it is not clear, it reaches further."""
    assert left(said) == rest


@pytest.mark.parametrize(
    "said",
    [
        "no",
        "no, stolen",
        "why not nine",
        "can't you make it nine",
        "not only lost but stolen",
        "I don't mind friday",
        "nobody but Chen",
        "no one except for Chen",
        "stolen, wasn't it",
        "no problem, nine",
    ],
)
def test_what_only_looks_like_a_denial_is_none(said: str) -> None:
    """ "Nobody but Chen" means Chen."""
    assert affirmed(said) == said


@given(st.text(max_size=40), st.booleans())
def test_places_stay_the_same(text: str, turned: bool) -> None:
    """What is found in the rest is at the same place in the text."""
    said = f"not {text}, gold {text}"
    kept = affirmed(said, turned=turned)
    assert len(kept) == len(said)
    assert all(mark == char or mark in "; " for mark, char in zip(kept, said, strict=True))


def test_an_exception_is_told_from_a_denial() -> None:
    """Only the first says that the rest is welcome."""
    assert find_denials(tokenize("anyone but Chen")).excepted
    assert not find_denials(tokenize("not Chen")).excepted


def test_an_exception_leaves_the_rest() -> None:
    """One that is left is taken, several are asked between."""
    names = ("Chen", "Patel", "Okafor")
    choices = [Choice(name, (name,)) for name in names]
    reading = weigh_choices("anyone but Chen", choices)
    assert reading.found is None and reading.ambiguous == tuple(choices[1:])
    assert weigh_choices("not Chen", choices).ambiguous == ()
    found = read_choice("any of them except Chen or Patel", choices)
    assert found is not None and found.value == "Okafor"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("no insurance please", "no insurance"),
        ("I don't want insurance", "no insurance"),
        ("without insurance", "no insurance"),
        ("full insurance", "full insurance"),
        ("I don't want full insurance", None),
        ("I want it insured", None),
    ],
)
def test_a_choice_that_denies_is_chosen_by_a_denial(said: str, value: str | None) -> None:
    """ "Without insurance" is no refusal of the choice "no insurance"."""
    choices = [Choice(label, (label,)) for label in ("no insurance", "full insurance")]
    found = read_choice(said, choices)
    assert (found and found.value) == value


@pytest.mark.parametrize(
    ("language", "said", "value"),
    [
        ("de", "nicht die goldene", None),
        ("de", "nicht die goldene, die blaue", "blaue"),
        ("de", "die blaue bitte", "blaue"),
        ("fr", "pas la bleue", None),
        ("it", "non la blaue", None),
    ],
)
def test_other_languages_deny_too(language: str, said: str, value: str | None) -> None:
    """By a few words, up to the next pause."""
    choices = [Choice(label, (label,)) for label in ("goldene", "blaue", "bleue")]
    found = read_choice(said, choices, lexicon_for(language))
    assert (found and found.value) == value
