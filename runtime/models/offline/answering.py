"""An answer out of what the search found: one or two sentences of it, as they can be spoken.

Owns the choice of the sentence. The passages are the engine's, best first, a heading line before
each where the file has one.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.models.offline.words import asked_part, plain, stems, stop_free

__all__ = ["MOST_CHARS", "answer_from", "asks_only_measure", "measure_words", "spoken"]

MOST_CHARS = 300
LEAST_SHARED = 0.3
"""Of what was asked for, by weight, that a passage must have to be the answer."""
_LEAST_MEASURE = 0.1
"""The same for "how much is it?", whose other words are those of the line before."""

_MOST_PASSAGES = 8
_MOST_PASSAGE = 4000
_HEADING_SHARE = 0.6
"""What a word in the heading counts, against one in the sentence itself."""
_RANK = 0.04
"""How much a passage loses for each one that the search put before it."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?:\s[^()]{0,200})?\)")
_URL = re.compile(r"<?https?://\S+>?")
_INLINE = re.compile(r"</?(?:a|b|i|u|em|strong|span|code|mark|small|sub|sup)\b[^<>]{0,200}>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+•]\s+|\d{1,3}[.)]\s+)+")
_RULE = re.compile(r"^[\s|:=_*+-]{3,}$")
_EMPHASIS = re.compile(r"(\*{1,3}|`+|~~)(?=\S)(.{1,400}?)(?<=\S)\1")
_UNDERLINE = re.compile(r"(?<!\w)(_{1,3})(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]”’»]?\s+(?=\S)|(?<=[。！？])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|mr|mrs|ms|dr|no|st|approx|etc|vs)\.$", re.IGNORECASE)
_COST = re.compile(
    r"\b(?:costs?|prices?|priced|fees?|charge[ds]?|free|euros?|dollars?|pounds?|cents?)\b|[$€£¥]",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|overnight|immediately|at once)\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:\d{1,2}(?::\d\d)?\s?[ap]\.?m|o'clock|noon|midnight|morning|afternoon|evening|today|"
    r"tomorrow|\w+days?|hours?|weeks?|months?|open|from)\b",
    re.IGNORECASE,
)
_ASKED: tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...] = (
    (
        re.compile(r"\bhow much\b|\bcosts?\b|\bprices?\b|\bfees?\b", re.IGNORECASE),
        _COST,
        "costs",
    ),
    (
        re.compile(r"\bhow (?:long|soon|fast|quick(?:ly)?)\b", re.IGNORECASE),
        _SPAN,
        "takes long",
    ),
    (re.compile(r"\b(?:when|what time)\b", re.IGNORECASE), _MOMENT, "open hours"),
)
"""What a question asks for, what shows that a sentence tells it, words to look for. English."""
_KIND_WORDS = "long soon fast quick quickly time cost costs price prices fee fees"
"""What only says what kind of answer is asked for; a sentence that tells it has them."""
_MEASURES = frozenset(f"{_KIND_WORDS} take takes taking".split())
_KIND_SHARE = 0.8
"""What being told what was asked for counts, against the rarest word of the question."""
_STRUCTURED = re.compile(r"^\s*[\[{]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    passage: int
    paragraph: int
    heading: frozenset[str]


def answer_from(passages: Sequence[str], question: str, language: str) -> str | None:
    """Return what answers the question, at most ``MOST_CHARS`` long; None where nothing does."""
    wanted = frozenset(stems(question, language))
    sentences = [
        s for n, text in enumerate(passages[:_MOST_PASSAGES]) for s in _cut(text, n, language)
    ]
    if not sentences or not wanted:
        return None
    own = [frozenset(stems(sentence.text, language)) for sentence in sentences]
    seen = Counter(stem for words in own for stem in words & wanted)
    weights = {stem: math.log(1 + len(sentences) / (seen.get(stem, 0) or 0.5)) for stem in wanted}
    total = sum(weights.values())
    told = next((tells for asks, tells, _ in _ASKED if asks.search(question)), None)
    if told is not None:
        kind = wanted & frozenset(stems(_KIND_WORDS, language))
        own = [
            words | kind if told.search(sentence.text) else words
            for sentence, words in zip(sentences, own, strict=True)
        ]
    extra = _KIND_SHARE * max(weights.values())
    scores = [
        (_score(sentence, words, weights) + (extra if told and told.search(sentence.text) else 0))
        / total
        for sentence, words in zip(sentences, own, strict=True)
    ]
    # "How much is it?" has no word of its own: what tells no price is no answer then.
    must_tell = told is not None and asks_only_measure(question, language)
    fits = [
        _score(sentence, words, weights) / total
        >= (_LEAST_MEASURE if must_tell else _least(wanted))
        and (not must_tell or (told is not None and told.search(sentence.text) is not None))
        for sentence, words in zip(sentences, own, strict=True)
    ]
    best = max(
        (n for n, fit in enumerate(fits) if fit),
        key=lambda n: (scores[n] - _RANK * sentences[n].passage, -n),
        default=None,
    )
    if best is None:
        return None
    return _with_next(sentences, best)


def asks_only_measure(question: str, language: str) -> bool:
    """Whether it has no word of its own: "how much is it?", "how long does it take?"."""
    asked = plain(asked_part(question.partition("?")[0])).split()
    return not stop_free(" ".join(word for word in asked if word not in _MEASURES), language)


def measure_words(question: str) -> str:
    """What to look for where a price, a span or a time is asked for; empty where none is."""
    return next((words for asks, _, words in _ASKED if asks.search(question)), "")


def _least(wanted: frozenset[str]) -> float:
    return LEAST_SHARED if len(wanted) < 4 else LEAST_SHARED * 0.8


def _score(sentence: _Sentence, words: frozenset[str], weights: dict[str, float]) -> float:
    return sum(
        weight * (1.0 if stem in words else _HEADING_SHARE)
        for stem, weight in weights.items()
        if stem in words or stem in sentence.heading
    )


def _with_next(sentences: list[_Sentence], best: int) -> str:
    chosen = sentences[best]
    text = chosen.text
    if best + 1 < len(sentences):
        after = sentences[best + 1]
        beside = (after.passage, after.paragraph) == (chosen.passage, chosen.paragraph)
        if beside and len(text) + 1 + len(after.text) <= MOST_CHARS:
            text = f"{text} {after.text}"
    return _shortened(text)


def _shortened(text: str) -> str:
    """Cut at a clause, else at a word."""
    if len(text) <= MOST_CHARS:
        return text
    room = text[: MOST_CHARS - 1]
    at = max(room.rfind(mark) for mark in (", ", "; ", ": "))
    if at < MOST_CHARS // 2:
        at = room.rfind(" ")
    return f"{room[: at if at > 0 else len(room)].rstrip(' ,;:')}."


def _cut(passage: str, number: int, language: str) -> list[_Sentence]:
    """The sentences of a passage; items of a list are some, a heading belongs to what follows."""
    passage = _FENCE.sub(" ", passage[:_MOST_PASSAGE])
    heading, body = _heading(passage)
    under = frozenset(stems(heading, language)) if heading else frozenset[str]()
    found: list[_Sentence] = []
    for at, paragraph in enumerate(_paragraphs(body)):
        found += [_Sentence(s, number, at, under) for s in _sentences(paragraph)]
    return found


def _heading(passage: str) -> tuple[str, str]:
    """A first line without an end of a sentence is the heading."""
    first, _, rest = passage.strip().partition("\n")
    bare = first.strip()
    is_heading = bool(rest.strip()) and bare[-1:] not in ".!?:;,…" and len(bare) <= 300
    return (bare, rest) if is_heading and not _LEAD.match(f"{bare} ") else ("", passage)


def _paragraphs(body: str) -> list[str]:
    result: list[str] = []
    for block in re.split(r"\n\s*\n", body):
        text = ""
        for line in block.splitlines():
            if _RULE.match(line) or line.lstrip().startswith("|"):
                continue
            if _LEAD.match(line) and text:
                result.append(text)
                text = ""
            text = f"{text} {line.strip()}".strip() if text else line.strip()
        if text:
            result.append(text)
    return [clean for text in result if (clean := spoken(text))]


def _sentences(paragraph: str) -> list[str]:
    parts: list[str] = []
    for piece in _SENTENCE.split(paragraph):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece.strip()}"
        elif piece.strip():
            parts.append(piece.strip())
    return [part if part[-1] in ".!?…。！？" else f"{part}." for part in parts]


def spoken(text: str) -> str:
    """Take the markup out of a text; empty for what is no text at all (JSON, a table, code)."""
    text = _LEAD.sub("", text)
    if _STRUCTURED.match(text) and not _LINK.match(text.lstrip()):
        return ""
    text = _TAG.sub(" ", _INLINE.sub("", _URL.sub(" ", _LINK.sub(r"\1", text))))
    for _ in range(3):
        text = _UNDERLINE.sub(r"\2", _EMPHASIS.sub(r"\2", text))
    return " ".join(text.replace("*", "").replace("`", "").split()).strip()
