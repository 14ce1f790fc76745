"""Which of several answers on offer was meant.

Owns the weighing of a caller's words against the labels of the choices: by the label itself, by
position, by digits in it, by a word that only one has, by the question's words, and by likeness.
What was denied is never taken. How words are compared is ``wording.py``'s.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from runtime.agent import Json
from runtime.models.offline.reading.corrections import is_correction
from runtime.models.offline.reading.denials import affirmed
from runtime.models.offline.reading.digits import read_digits
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Choice, ChoiceReading, Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.positions import read_positions
from runtime.models.offline.reading.wording import Word, Worded, has_clock, turned, worded

__all__ = ["read_choice", "weigh_choices"]

_MOST_CHOICES = 200
_LIKE = 84
"""Likeness, 0..100, from which a word is taken for a label's."""
_WHOLE = 78
_MARGIN = 10
_Labels = list[list[tuple[Word, ...]]]
_Key = tuple[str, bool]
"""A word, and whether it is denied."""


@dataclass(frozen=True)
class _Offer:
    """The choices, with what is read out of them once."""

    choices: Sequence[Choice]
    labels: _Labels
    lexicon: Lexicon
    of_clocks: bool
    """Times are on offer."""

    @cached_property
    def owners(self) -> dict[_Key, set[int]]:
        """The choices that have a word, a form of it, or one that stands for it."""
        owners: dict[_Key, set[int]] = {}
        for n, ways in enumerate(self.labels):
            for words in ways:
                for word in _telling(words, self.lexicon):
                    for key in (word.said, f"={word.form}", f"~{word.sense}" if word.sense else ""):
                        if key:
                            owners.setdefault((key, word.is_denied), set()).add(n)
        return owners

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All words of the labels."""
        return frozenset(word.said for ways in self.labels for words in ways for word in words)

    @cached_property
    def beside(self) -> tuple[tuple[Word, ...], ...]:
        """For each choice, the words that the question put beside it."""
        return tuple(
            worded(c.asked_with, self.lexicon, loose=False, label=True).words
            if c.asked_with
            else ()
            for c in self.choices
        )


def _offer(text: str, choices: Sequence[Choice], lexicon: Lexicon) -> _Offer:
    labels = [_label_words(choice, lexicon, loose=False) for choice in choices]
    of_clocks = any(w.is_clock for ways in labels for words in ways for w in words)
    if not of_clocks and has_clock(text, lexicon):
        of_clocks = all(_is_hour(choice, lexicon) for choice in choices)
    if of_clocks:
        labels = [_label_words(choice, lexicon, loose=True) for choice in choices]
    return _Offer(choices, labels, lexicon, of_clocks)


def _label_words(choice: Choice, lexicon: Lexicon, *, loose: bool) -> list[tuple[Word, ...]]:
    plain = dict.fromkeys(_plain(label) for label in choice.labels)
    return [worded(label, lexicon, loose=loose, label=True).words for label in plain]


def read_choice(
    text: str, choices: Sequence[Choice], lexicon: Lexicon = ENGLISH
) -> Found[Json] | None:
    """Return the value of the one choice that was meant, None for none or several."""
    return weigh_choices(text, choices, lexicon).found


def weigh_choices(
    text: str, choices: Sequence[Choice], lexicon: Lexicon = ENGLISH
) -> ChoiceReading:
    """Find the choice that was meant, or those between which the words do not decide.

    Read are: a label or a word that only one has ("the gold one", "I broke it" for broken), a time
    that is on offer, a position ("the second one", "number two", "the last"), digits of a label in
    words ("the one ending in forty two"), a label heard badly, and the words that the question put
    beside a label. What is denied is not taken ("not the gold one"), and nothing is where another
    number or time was said than a label has. Of "anyone but Chen" the only one left is taken, and
    several are given back. No more than the first 200 choices and 60 words are looked at.
    """
    choices = choices[:_MOST_CHOICES]
    offer = _offer(text, choices, lexicon)
    said = list(worded(text, lexicon, loose=offer.of_clocks).words)
    # The "no" of "no insurance please" corrects nothing.
    corrected = None if _denying_labels(said, offer) else is_correction(text, lexicon)
    if corrected is not None:
        inner = _weigh(corrected.value, offer)
        if inner.found is not None:
            shift = corrected.start
            one = inner.found
            return ChoiceReading(
                Found(one.value, one.start + shift, one.end + shift, one.confidence)
            )
    return _weigh(text, offer)


def _is_hour(choice: Choice, lexicon: Lexicon) -> bool:
    words = worded(_plain(choice.labels[0]), lexicon, loose=True, label=True).words
    return len(words) == 1 and words[0].is_clock


def _weigh(text: str, offer: _Offer) -> ChoiceReading:
    said = worded(text, offer.lexicon, loose=offer.of_clocks)
    if not said.words or not offer.choices:
        return ChoiceReading(None)
    whole = (0, len(said.tokens.text))
    denied = _denied(text, said, offer)
    if _between_clocks(said, offer):
        return ChoiceReading(None, _given_back(_by_word(list(said.words), offer), offer))
    several: list[int] = []
    for fitting, confidence in _readings(text, said, offer):
        every = len(fitting) == len(offer.choices) > 1  # a word of all of them rules out none
        left = fitting if every else [n for n in fitting if n not in denied]
        left = [n for n in left if not _contradicts(said, n, offer)]
        if len(left) == 1 and not any(_is_narrower(said, d, left[0], offer) for d in denied):
            return ChoiceReading(Found(offer.choices[left[0]].value, *whole, confidence))
        if len(left) > 1 and not several:
            several = left
    if not several and denied and _takes_the_rest(said, offer):
        several = [n for n in range(len(offer.choices)) if n not in denied]
        if len(several) == 1:
            return ChoiceReading(Found(offer.choices[several[0]].value, *whole, 0.7))
    return ChoiceReading(None, _given_back(several, offer))


def _denying_labels(words: list[Word], offer: _Offer) -> frozenset[int]:
    """Choices that deny, and whose label was said: "no insurance please"."""
    named = _by_label(words, offer)
    return frozenset(n for n in named if any(w.is_cue for ws in offer.labels[n] for w in ws))


def _given_back(several: list[int], offer: _Offer) -> tuple[Choice, ...]:
    return tuple(offer.choices[n] for n in several) if len(several) > 1 else ()


def _readings(text: str, said: Worded, offer: _Offer) -> Iterator[tuple[list[int], float]]:
    """The choices that fit, by each way to name one, the surest way first."""
    words = list(said.words)
    by_label, by_word = _by_label(words, offer), _by_word(words, offer)
    found = read_positions(said.tokens, len(offer.choices), offer.lexicon, offer.vocabulary)
    placed = [place for place in found if not said.denials.denied[place.at]]
    places = [place.index for place in placed]
    if len(by_word) > 1 and len(placed) == 1 and placed[0].is_among:
        # "The second gold one" counts among the gold ones.
        yield [by_word[places[0]]] if places[0] < len(by_word) else [], 0.9
        places = []
    named = _with_rivals(by_label, words, offer) or by_word
    if len(named) == 1 and places and places != named:
        yield sorted({*named, *places}), 0.85
        return
    yield named, 0.95 if by_label else 0.85
    yield by_word, 0.85
    yield places, 0.9
    if not offer.of_clocks:
        yield _by_digits(affirmed(text, offer.lexicon), offer), 0.85
    yield _by_question(words, offer), 0.6
    yield _by_likeness(words, offer), 0.6


def _denied(text: str, said: Worded, offer: _Offer) -> frozenset[int]:
    """Choices that the words rule out: "not the gold one", "it arrived" for never arrived."""
    words = turned(said.words)
    named = _by_label(words, offer, is_turned=True) or _by_word(words, offer, alike=False)
    if len(named) == len(offer.choices) > 1:
        named = []
    places = read_positions(said.tokens, len(offer.choices), offer.lexicon, offer.vocabulary)
    named += [p.index for p in places if said.denials.denied[p.at]]
    if any(said.denials.denied) and not offer.of_clocks:
        named += _by_digits(affirmed(text, offer.lexicon, turned=True), offer)
    return frozenset(named) - _denying_labels(list(said.words), offer)


def _is_narrower(said: Worded, denied: int, chosen: int, offer: _Offer) -> bool:
    """Whether a choice is denied by what would choose another, and by more than that.

    "I don't want full insurance" does not choose "no insurance".
    """
    telling = [w for w in _telling(said.words, offer.lexicon) if w.is_denied]
    against = {w.said for w in turned(telling) if denied in _owner(w, offer.owners)}
    for_it = {w.said for w in telling if chosen in _owner(w, offer.owners)}
    return bool(for_it) and for_it < against


def _takes_the_rest(said: Worded, offer: _Offer) -> bool:
    if said.denials.excepted:
        return True
    other = offer.lexicon.denial.other
    return any(w.said in other and not w.is_denied for w in said.words)


def _between_clocks(said: Worded, offer: _Offer) -> bool:
    """Whether two times were said, of which only one may be on offer: "nine or ten"."""
    for before, word, after in zip(said.words, said.words[1:], said.words[2:], strict=False):
        if word.said == offer.lexicon.alternative and before.is_clock and after.is_clock:
            return before.said != after.said and not before.is_denied
    return False


def _contradicts(said: Worded, choice: int, offer: _Offer) -> bool:
    """Whether another number or time was said than the choice has."""
    own = {w.said for words in offer.labels[choice] for w in words if w.is_count}
    own |= {w.said for w in offer.beside[choice] if w.is_count}
    if not own:
        return False
    counts = _counts(said, offer)
    run = "".join(w.said for w in said.words if w.said.isdigit() and not w.is_denied)
    if not counts or (len(run) > 1 and any(run in number or number in run for number in own)):
        return False
    return not own & set(counts)


def _counts(said: Worded, offer: _Offer) -> list[str]:
    """Numbers that stand alone, or before a word that the choices have too."""
    known = offer.vocabulary | {w.said for n in range(len(offer.choices)) for w in offer.beside[n]}
    found: list[str] = []
    for n, word in enumerate(said.words):
        after = said.words[n + 1].said if n + 1 < len(said.words) else ""
        if word.is_denied or not word.is_count or _is_thing(said, n):
            continue
        if n and said.words[n - 1].said in offer.lexicon.number_nouns:
            continue
        if word.is_clock or not after or after.isdigit() or after in known:
            found.append(word.said)
        elif after in offer.lexicon.choice_noise:
            found.append(word.said)
    return found


def _is_thing(said: Worded, n: int) -> bool:
    """Whether a "one" stands for a thing: "the gold one"."""
    return said.words[n].said == "1" and len(said.words) > 1


# ----------------------------------------------------------------------------------- by words


def _by_label(words: list[Word], offer: _Offer, *, is_turned: bool = False) -> list[int]:
    """Choices with a label that stands in the words as it is, the longest ones only."""
    # "1" is also what is left of "the gold one".
    alone = len(words) == 1
    sizes: dict[int, int] = {}
    for n, ways in enumerate(offer.labels):
        for label in ways:
            if not label or ([w.said for w in label] == ["1"] and not alone):
                continue
            if _stands(words, label, is_turned):
                sizes[n] = max(sizes.get(n, 0), len(label))
    return _maximal(sizes, offer.labels) if sizes else []


def _stands(words: list[Word], label: tuple[Word, ...], is_turned: bool) -> bool:
    size, denies = len(label), any(word.is_cue for word in label)
    if denies and is_turned:
        return False
    wanted = [word.said for word in label]
    for n in range(len(words) - size + 1):
        part = words[n : n + size]
        if [word.said for word in part] != wanted:
            continue
        if denies and not any(word.is_cue for word in words[max(0, n - 4) : n]):
            return True
        if not denies and not any(word.is_denied for word in part):
            return True
    return False


def _maximal(sizes: dict[int, int], labels: _Labels) -> list[int]:
    """Leave out a choice whose label is only a part of another's: gold beside gold plus."""
    longest = max(sizes.values())
    top = [n for n, size in sizes.items() if size == longest]
    kept = list(top)
    for n, size in sizes.items():
        if size == longest:
            continue
        inside = any(
            _contains(whole, part) for m in top for whole in labels[m] for part in labels[n] if part
        )
        if not inside:
            kept.append(n)
    return sorted(kept)


def _contains(whole: Sequence[Word], part: Sequence[Word]) -> bool:
    said, wanted = [w.said for w in whole], [w.said for w in part]
    size = len(wanted)
    return any(said[n : n + size] == wanted for n in range(len(said) - size + 1))


def _with_rivals(fitting: list[int], words: list[Word], offer: _Offer) -> list[int]:
    """Add choices that other words name: "I lost it, and somebody stole it"."""
    if len(fitting) != 1:
        return fitting
    own = {word.said for label in offer.labels[fitting[0]] for word in label}
    rivals: set[int] = set(fitting)
    for word in _telling(words, offer.lexicon):
        named = _owner(word, offer.owners)
        if len(named) == 1 and word.said not in own:
            rivals |= named
    return sorted(rivals)


def _telling(words: Sequence[Word], lexicon: Lexicon) -> list[Word]:
    return [w for w in words if not w.is_cue and w.said not in lexicon.choice_noise]


def _owner(word: Word, owners: dict[_Key, set[int]]) -> set[int]:
    for key in (word.said, f"={word.form}", f"~{word.sense}"):
        if (found := owners.get((key, word.is_denied))) is not None:
            return found
    return set()


def _by_word(words: list[Word], offer: _Offer, *, alike: bool = True) -> list[int]:
    """Choices that share the most telling words with what was said."""
    owners = offer.owners
    scores: dict[int, float] = {}
    used: set[_Key] = set()
    for word in _telling(words, offer.lexicon):
        key = (word.said, word.is_denied)
        if word.said == "1" or key in used:
            continue
        used.add(key)
        named = _owner(word, owners) or (_alike(word, owners) if alike else set())
        for n in named:
            scores[n] = scores.get(n, 0) + 1 / len(named)
    if not scores:
        return []
    best = max(scores.values())
    return sorted(n for n, score in scores.items() if score > best - 0.25)


def _alike(heard: Word, owners: dict[_Key, set[int]]) -> set[int]:
    said = heard.said
    if len(said) < 4 or heard.is_count:
        return set()
    like = [
        (fuzz.ratio(said, word), word)
        for word, is_denied in owners
        if word[0] not in "=~@" and is_denied == heard.is_denied and abs(len(word) - len(said)) < 3
    ]
    best = max(like, default=(0, ""))
    return owners[best[1], heard.is_denied] if best[0] >= _LIKE else set()


# ------------------------------------------------------------------------------- by the rest


def _by_digits(text: str, offer: _Offer) -> list[int]:
    """Choices whose label has the digits that were said, at its end before elsewhere."""
    found = read_digits(text, lexicon=offer.lexicon)
    if found is None or len(found.value) < 2:
        return []
    held = [
        ["".join(char for char in label if char.isdecimal()) for label in choice.labels]
        for choice in offer.choices
    ]
    ending = [n for n, ways in enumerate(held) if any(w.endswith(found.value) for w in ways)]
    return ending or [n for n, ways in enumerate(held) if any(found.value in w for w in ways)]


def _by_question(words: list[Word], offer: _Offer) -> list[int]:
    """Choices to which the question gave all that was said: "in two days"."""
    noise = offer.lexicon.choice_noise | offer.lexicon.question_noise
    is_thing = len(words) > 1  # "the one in two days"
    said = [w for w in words if not w.is_cue and w.said not in noise]
    said = [w for w in said if not (is_thing and w.said == "1")]
    if not said:
        return []
    held = [_keys(offer.beside[n]) for n in range(len(offer.choices))]
    known = frozenset[_Key]().union(*held)
    counts = [w for w in said if w.is_count]
    fitting: list[int] = []
    for n, own in enumerate(held):
        # "By post in five days, or by express in two": of "two days" the number tells.
        if counts and all(_keys([w]) & own for w in counts):
            own = known
        if own and all(_keys([w]) & own for w in said):
            fitting.append(n)
    return fitting


def _keys(words: Sequence[Word]) -> frozenset[_Key]:
    forms = {(word.form, word.is_denied) for word in words}
    return frozenset(forms | {(f"~{w.sense}", w.is_denied) for w in words if w.sense})


def _by_likeness(words: list[Word], offer: _Offer) -> list[int]:
    noise = offer.lexicon.choice_noise
    if any(w.is_denied or w.is_count and w.said != "1" for w in words):
        return []
    heard = " ".join(w.said for w in words if w.said not in noise)
    if len(heard) < 4:
        return []
    scores = [
        max((fuzz.ratio(heard, " ".join(w.said for w in ws)) for ws in ways), default=0)
        for ways in offer.labels
    ]
    best = max(scores)
    if best < _WHOLE:
        return []
    return [n for n, score in enumerate(scores) if score > best - _MARGIN]


def _plain(label: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label[:500])
    return spaced.replace("_", " ").replace("-", " ")
