"""What a caller denies: "not the gold one", "nine doesn't work", "anyone but Chen".

Owns how far a denial reaches in words that come with or without punctuation. What is denied is no
answer; it is for the readers of values to leave it out (``affirmed``) or to weigh it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["Denials", "affirmed", "find_denials"]

_MOST_WORDS = 400
_NEAR = 5
_PAUSES = frozenset(",.;:?!\u2026\u2013\u2014")
_WHOLE = frozenset({"clause", "none"})


@dataclass(frozen=True, slots=True)
class Denials:
    """For each token of a text."""

    denied: tuple[bool, ...]
    """It is under a denial."""
    cues: tuple[bool, ...]
    """It is a word that denies, and says nothing else."""
    excepted: bool = False
    """Something was taken out of all there is: the rest is welcome."""


@dataclass(slots=True)
class _Clause:
    first: int
    after: int


class _Scan:
    """One text, looked at from the left."""

    def __init__(self, tokens: Tokens, lexicon: Lexicon) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.words = lexicon.denial
        self.count = min(len(tokens), _MOST_WORDS)
        self.kinds = [""] * self.count
        self.begins: set[int] = {0}

    def mark(self) -> bool:
        """Find the words that deny; False where there are none."""
        at, found_any = 0, False
        refusals = False
        while at < self.count:
            found = self.words.cue_phrases.match(self.tokens, at)
            if found is None:
                refusals = refusals or self._norm(at) == self.words.refusal
                at += 1
                continue
            kind, after = found
            if kind == "tag":
                ends = after >= self.count or self._paused(after)
                kind = "neutral" if ends else "clause"
            elif kind == "clause" and self._is_asked(at, after):
                kind = "neutral"
            for place in range(at, min(after, self.count)):
                self.kinds[place] = kind
            found_any = found_any or kind != "neutral"
            at = after
        self._refusals()
        return found_any or refusals or any(kind for kind in self.kinds) or self._has_but()

    def _has_but(self) -> bool:
        return any(self._norm(at) == self.words.but for at in range(self.count))

    def _norm(self, at: int) -> str:
        return self.tokens.norm(at)

    def _is_asked(self, at: int, after: int) -> bool:
        """Whether it only asks: "can't you make it nine"."""
        begins = at == 0 or self._paused(at)
        return begins and (self._norm(after) in self.words.speakers or self._norm(after) == "you")

    def _paused(self, at: int) -> bool:
        return bool(_PAUSES & set(self.tokens.words[at].before))

    def _refusals(self) -> None:
        for at in range(self.count):
            if self._norm(at) != self.words.refusal or self.kinds[at]:
                continue
            after = self._norm(at - 1) in self.words.refusal_after and not self._paused(at)
            near = range(at + 1, min(at + _NEAR, self.count))
            joined = [n for n in near if not any(self._paused(m) for m in range(at + 1, n + 1))]
            if after or any(self._norm(n) in self.words.needs for n in joined):
                self.kinds[at] = "clause"

    def clauses(self) -> list[_Clause]:
        """Cut the text where something new begins."""
        begin, denies, speaks, universal = 0, False, False, False
        found: list[_Clause] = []
        for at in range(self.count):
            if at > begin and self._breaks(at, begin, denies, speaks, universal):
                found.append(_Clause(begin, at))
                begin, denies, speaks, universal = at, False, False, False
            denies = denies or self.kinds[at] not in ("", "neutral")
            speaks = speaks or self._is_subject(at)
            universal = universal or self._norm(at) in self.words.universal
        if begin < self.count:
            found.append(_Clause(begin, self.count))
        return found

    def _breaks(self, at: int, begin: int, denies: bool, speaks: bool, universal: bool) -> bool:
        words, said, before = self.words, self._norm(at), self._norm(at - 1)
        if self._paused(at):
            return True
        if said == words.but:
            return self._but(at, universal)
        if said in words.breaks and not self.kinds[at] and before not in words.auxiliaries:
            return True
        if said == self.lexicon.conjunction and self._cue(at + 1):
            return True
        is_cue = self._cue(at - 1) and not self._cue(at - 2)  # "can't make it", not "no good"
        if denies and not is_cue and before not in words.leaning:
            if words.restart_phrases.match(self.tokens, at) is not None:
                return True
            if said in words.articles and before in words.things:
                return True
        if self._is_subject(at) and not self._is_tied(at):
            points = self._norm(begin) in words.pointing and said in words.speakers
            return denies or (speaks and not points)
        return False

    def _but(self, at: int, universal: bool) -> bool:
        """Whether "but" begins a clause; else it makes an exception."""
        if at and self.kinds[at - 1] == "none":
            self.kinds[at] = "neutral"
            return False
        if universal:
            self.kinds[at] = "except"
            return False
        return True

    def _cue(self, at: int) -> bool:
        return 0 <= at < self.count and self.kinds[at] not in ("", "neutral")

    def _is_subject(self, at: int) -> bool:
        said = self._norm(at)
        if said in self.words.subjects:
            # "Can't I", "do we"
            return self._norm(at - 1) not in self.words.auxiliaries and not self._cue(at - 1)
        return said in self.words.objects and self._norm(at + 1) in self.words.verbs

    def _is_tied(self, at: int) -> bool:
        before = self._norm(at - 1)
        if before == "that" and self._norm(at - 2) in self.words.wants:
            return False
        return before in self.words.links or before == self.lexicon.alternative

    def resolve(self) -> None:
        """Settle what a cue reaches by the words beside it."""
        words = self.words
        for at in range(self.count):
            kind, before = self.kinds[at], self._norm(at - 1)
            if kind == "except" and at and self.kinds[at - 1] == "none":
                self._clear(at)
            if kind == "part" and self.kinds[at - 1 : at] != ["part"]:
                after = self._end_of(at)
                whole = before in words.auxiliaries or self._norm(after) in words.verdicts
                if (whole and not self._begins(at)) or after >= self.count or self._begins(after):
                    self.kinds[at] = "clause"
            if kind == "neutral" and self._norm(at) == words.but:
                self._clear(at)

    def _end_of(self, at: int) -> int:
        kind = self.kinds[at]
        while at < self.count and self.kinds[at] == kind:
            at += 1
        return at

    def _begins(self, at: int) -> bool:
        return at in self.begins

    def _clear(self, at: int) -> None:
        """Let a denial be none, whose exception is all that is meant: "nobody but Chen"."""
        kind = self.kinds[at]
        while at < self.count and self.kinds[at] == kind:
            self.kinds[at] = "neutral"
            at += 1
            if kind == "neutral":
                break
        place = at - 1
        while place >= 0 and self.kinds[place] in ("none", "neutral"):
            self.kinds[place] = "neutral"
            place -= 1

    def reach(self, clause: _Clause) -> Iterator[int]:
        """The places that are denied in a clause."""
        kinds = self.kinds[clause.first : clause.after]
        if _WHOLE & set(kinds):
            yield from range(clause.first, clause.after)
            return
        for at, kind in enumerate(kinds, start=clause.first):
            if kind in ("part", "except"):
                yield from range(at, clause.after)
                return

    def takes_back(self, clause: _Clause, before: _Clause) -> bool:
        """Whether a clause only refuses what was said before it: "thursday, no good"."""
        said = [self._norm(at) for at in range(clause.first, clause.after)]
        at_end = clause.after >= self.count
        refuses = said[:1] == [self.words.refusal]
        if refuses and "?" in self.tokens.words[clause.first].before:
            return True
        if refuses and len(said) == 1 and at_end and "?" not in self.tokens.tail:
            return True
        kinds = self.kinds[clause.first : clause.after]
        if not _WHOLE & set(kinds):
            return False
        rest = [w for w, kind in zip(said, kinds, strict=True) if kind not in _WHOLE]
        if not all(word in self.words.hollow for word in rest):
            return False
        own = self._norm(clause.first) in self.words.pointing - {"that", "this", "that's"}
        return not (own and any(self._is_subject(n) for n in range(before.first, before.after)))


def find_denials(tokens: Tokens, lexicon: Lexicon = ENGLISH) -> Denials:
    """Tell what of a text is denied; no more than the first 400 words are looked at.

    "It wasn't stolen, it's broken" denies "stolen"; "blue, not gold" denies "gold"; "nine doesn't
    work" denies "nine"; "any day but friday" takes "friday" out of the days. Where a denial without
    punctuation may reach further or less far, it reaches further.
    """
    scan = _Scan(tokens, lexicon)
    denied = [False] * len(tokens)
    if not scan.count or not lexicon.denial.cues or not scan.mark():
        return Denials(tuple(denied), tuple(denied))
    clauses = scan.clauses()
    scan.begins = {clause.first for clause in clauses}
    scan.resolve()
    before: _Clause | None = None
    for clause in clauses:
        for at in scan.reach(clause):
            denied[at] = True
        if before is not None and scan.takes_back(clause, before):
            denied[before.first : before.after] = [True] * (before.after - before.first)
        before = clause
    if len(clauses) == 1 or clauses[-1].after - clauses[-1].first > 1:
        _trailing(scan, clauses[-1], denied)
    cues = [kind not in ("", "neutral") for kind in scan.kinds]
    cues += [False] * (len(tokens) - len(cues))
    return Denials(tuple(denied), tuple(cues), "except" in scan.kinds)


def _trailing(scan: _Scan, clause: _Clause, denied: list[bool]) -> None:
    """Let a last word refuse what stands before it: "Friday no"."""
    last = clause.after - 1
    is_last = last > clause.first and clause.after == len(scan.tokens)
    if is_last and scan.tokens.norm(last) == scan.words.refusal and "?" not in scan.tokens.tail:
        denied[clause.first : clause.after] = [True] * (clause.after - clause.first)


def affirmed(text: str, lexicon: Lexicon = ENGLISH, *, turned: bool = False) -> str:
    """Return the text with blanks for what is denied, as long as before; ``turned``: what is not.

    A pause stands where something was left out.
    """
    tokens = tokenize(text)
    found = find_denials(tokens, lexicon)
    if not turned and not any(found.denied) and not any(found.cues):
        return text
    chars = list(text)
    at = 0
    while at < len(tokens):
        if (found.denied[at] or found.cues[at]) is turned:
            at += 1
            continue
        first = at
        while at < len(tokens) and (found.denied[at] or found.cues[at]) is not turned:
            at += 1
        start, end = tokens.start(first), tokens.end(at)
        chars[start:end] = ";" + " " * (end - start - 1)
    return "".join(chars)
