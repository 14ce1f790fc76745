"""Names of people.

Owns ``read_name``. A name that is spelled letter by letter is ``spelling.py``'s.
"""

from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import Found
from runtime.models.offline.reading.lexicon import Lexicon
from runtime.models.offline.reading.spelling import read_spelled
from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = ["read_name"]

_MOST_WORDS = 5


def read_name(text: str, lexicon: Lexicon = ENGLISH) -> Found[str] | None:
    """Find a person's name: "my name is Nora Feld", "this is Dr. Feld speaking", "Nora Feld".

    Words without a capital get one, titles their usual form ("doctor feld" is "Dr. Feld").
    """
    tokens = tokenize(text)
    strong = _after_strong(tokens, lexicon)
    if strong is not None:
        return strong
    at, weak = 0, False
    while (found := lexicon.name_phrases.match(tokens, at)) is not None:
        weak = weak or found[0] == "weak"
        at = found[1]
    after = _name_end(tokens, at, lexicon)
    if after == at:
        return None
    left = len(tokens) - lexicon.padding.skip(tokens, after)
    if left and _is_spelled(tokens, after, lexicon):
        left = 0
    if left and tokens.norm(after) in ("speaking", "here", "calling"):
        left = 0
    if not weak and left:
        return None
    if weak and left and not _capital(tokens, at):
        return None
    return _result(tokens, at, after, lexicon, (0.85 if weak else 0.7) - 0.2 * bool(left))


def _after_strong(tokens: Tokens, lexicon: Lexicon) -> Found[str] | None:
    for place in range(len(tokens)):
        found = lexicon.name_phrases.match(tokens, place)
        if found is None or found[0] != "strong":
            continue
        at = lexicon.filler_phrases.skip(tokens, found[1])
        after = _name_end(tokens, at, lexicon)
        if after > at:
            return _result(tokens, at, after, lexicon, 0.95)
    return None


def _name_end(tokens: Tokens, at: int, lexicon: Lexicon) -> int:
    """Return the place after the words that may be one name."""
    first = at
    while at < len(tokens) and at - first < _MOST_WORDS:
        token = tokens.words[at]
        title = at == first or tokens.norm(at - 1) in lexicon.titles
        apart = at > first and not token.joins and not (title and token.before == ".")
        if token.kind != "word" or apart or tokens.asks(at + 1):
            break
        word = token.norm
        if word in lexicon.not_names and not (at > first and word in lexicon.name_particles):
            break
        if any(word in words for words in (lexicon.units, lexicon.teens, lexicon.tens)):
            break
        if word in lexicon.weekdays or word in lexicon.scales or word in lexicon.day_words:
            break
        if len(word) == 1 and at == first:
            break
        # "Barkley b a r k l e y": what follows spells the name.
        if len(word) == 1 and len(tokens.norm(at + 1)) == 1:
            break
        if word.endswith("ing") and len(word) > 5 and not _capital(tokens, at):
            break
        at += 1
    while at > first and tokens.norm(at - 1) in lexicon.name_particles:
        at -= 1
    return first if at == first + 1 and tokens.norm(first) in lexicon.titles else at


def _is_spelled(tokens: Tokens, at: int, lexicon: Lexicon) -> bool:
    """Whether the word before a place is spelled behind it."""
    spelled = read_spelled(tokens.rest(at), lexicon=lexicon)
    return spelled is not None and spelled.value.lower() == tokens.norm(at - 1)


def _capital(tokens: Tokens, at: int) -> bool:
    start = tokens.start(at)
    return tokens.text[start : start + 1].isupper()


def _result(tokens: Tokens, at: int, after: int, lexicon: Lexicon, confidence: float) -> Found[str]:
    parts: list[str] = []
    for token in tokens.words[at:after]:
        said = tokens.text[token.start : token.end]
        if token.norm in lexicon.titles and len(parts) == 0 and after > at + 1:
            said = lexicon.titles[token.norm]
        elif said.islower() and not (parts and token.norm in lexicon.name_particles):
            said = "'".join(part[:1].upper() + part[1:] for part in said.split("'"))
        glued = bool(parts) and token.before == "-"
        parts.append(("-" if glued else " " if parts else "") + said)
    return Found("".join(parts), tokens.start(at), tokens.end(after), confidence)
