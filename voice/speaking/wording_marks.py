"""Marks that are written but never said: markdown, code, tags, addresses, emoji, controls.

Owns what is taken out of a text, or said in its place, in every language. Numbers are
``wording_numbers``. Pure.
"""

import re
import unicodedata
from typing import Final

from voice.speaking.wording_text import MappedText

_BLANKS: Final = re.compile(r"[ \t]{2,}")
_FENCED: Final = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_TOOL_CALL: Final = re.compile(
    r"<(function|tool_call|think)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_BREAK_TAG: Final = re.compile(r"<(?:br|p|/p|li|/li)\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_IMAGE: Final = re.compile(r"!\[([^\]\[]{0,200})\]\([^()\s]{0,2000}(?:\s[^()]{0,200})?\)")
_LINK: Final = re.compile(r"\[([^\]\[]{1,500})\]\([^()\s]{0,2000}(?:\s[^()]{0,200})?\)")
_AUTOLINK: Final = re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,2000})>")
_URL: Final = re.compile(
    r"(?:https?://|(?<![\w@.])www\.)([^\s/?#<>\"')\]]{1,253})([/?#][^\s<>\"']*)?", re.IGNORECASE
)
_EMAIL: Final = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@([\w-]{1,63}(?:\.[\w-]{1,63}){1,4})(?!\w)")
_RULE: Final = re.compile(r"^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$", re.M)
_TABLE_RULE: Final = re.compile(r"^[ \t]*\|?[ \t:|-]*-{2,}[ \t:|-]*$", re.M)
_HEADING: Final = re.compile(r"^[ \t]*#{1,6}[ \t]+|[ \t]+#{1,6}[ \t]*$", re.M)
_QUOTE: Final = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.M)
_BULLET: Final = re.compile(r"^[ \t]*[-*+•‣◦▪][ \t]+(?:\[[ xX]\][ \t]+)?", re.M)
_PIPE: Final = re.compile(r"[ \t]*\|[ \t]*")
_EDGE_PIPE: Final = re.compile(r"^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", re.M)
_STARS: Final = re.compile(r"(?<=\S)\*{1,3}|\*{1,3}(?=\S)")
_LONE_STARS: Final = re.compile(r"(?<!\d) \*+ | \*+ (?!\d)")
_STRIKE: Final = re.compile(r"~~")
_UNDERSCORES: Final = re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=[\w.,!?])_{1,3}(?!\w)")
_INNER_UNDERSCORE: Final = re.compile(r"_+")
_BACKTICK: Final = re.compile(r"`+")
_ESCAPE: Final = re.compile(r"\\(?=[\\`*_{}\[\]()#+.!|~>-])")
_ITEM_END: Final = re.compile(r"(?<=[^\s.!?:;,…。！？])[ \t]*\n+(?=\s*\S)|(?<=\w)[ \t]*\n+\Z")
_COMBINING: Final = re.compile(r"[^\W_][\u0300-\u036f]+")
_HASH_WORD: Final = re.compile(r"(?<!\w)#(?=[^\W\d])")

_EMOJI_RANGES: Final = (
    "\U0001f000-\U0001faff"
    "\U0001fb00-\U0001fbff"
    "\u2600-\u27bf"
    "\u2b00-\u2bff"
    "\u2300-\u23ff"
    "\u25a0-\u25ff"
    "\u2190-\u21ff"
    "\ufe00-\ufe0f"
    "\u20e3"
    "\U000e0000-\U000e01ef"
)
_EMOJI: Final = re.compile(f"[{_EMOJI_RANGES}]+")
_KEYCAP: Final = re.compile("([0-9#*])\ufe0f?\u20e3")


def clean(mapped: MappedText) -> None:
    """Take out of the text what nobody says."""
    _drop_controls(mapped)
    mapped.sub(_BLANKS, lambda _: " ")
    mapped.sub(_FENCED, lambda _: " ")
    mapped.sub(_TOOL_CALL, lambda _: " ")
    _drop_links(mapped)
    mapped.sub(_BREAK_TAG, lambda _: "\n")
    mapped.drop(_TAG)
    _drop_markdown(mapped)
    mapped.sub(_KEYCAP, lambda m: m.group(1))
    mapped.drop(_EMOJI)
    mapped.sub(_ITEM_END, lambda _: ". ")


def _drop_controls(mapped: MappedText) -> None:
    text = mapped.text
    if text.isascii() and text.isprintable():
        return
    bad = {c for c in set(text) if c not in "\n\t\r " and unicodedata.category(c) in _UNSAID}
    if bad:
        mapped.drop(re.compile("[" + re.escape("".join(sorted(bad))) + "]+"))
    mapped.sub(_COMBINING, lambda m: unicodedata.normalize("NFC", m.group()))


_UNSAID: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Controls, bidi and zero-width marks, lone surrogates, private use, unassigned."""


def _drop_links(mapped: MappedText) -> None:
    mapped.sub(_IMAGE, lambda m: m.group(1))
    mapped.sub(_LINK, lambda m: m.group(1))
    mapped.sub(_AUTOLINK, lambda m: m.group(1).removeprefix("mailto:"))
    mapped.sub(_URL, _host)
    mapped.sub(_EMAIL, lambda m: f"{_dotted(m.group(1))} at {_dotted(m.group(2))}")


def _host(match: "re.Match[str]") -> str:
    """Say the host of an address, as people do; the stop of its sentence stays."""
    host, path = match.group(1), match.group(2) or ""
    whole = host + path
    stop = whole[len(whole.rstrip(".,;:!?…")) :]
    name = host.rstrip(".,;:!?…").rsplit("@", 1)[-1].split(":")[0].removeprefix("www.")
    return _dotted(name) + stop


def _dotted(name: str) -> str:
    return name.replace(".", " dot ").replace("_", " underscore ").replace("-", " dash ")


def _star(match: "re.Match[str]") -> str:
    """Keep a star between two digits: that is a sum, not a mark."""
    text, (start, end) = match.string, match.span()
    between = text[start - 1 : start].isdigit() and text[end : end + 1].isdigit()
    return match.group() if between else ""


def _drop_markdown(mapped: MappedText) -> None:
    mapped.drop(_RULE)
    mapped.drop(_TABLE_RULE)
    mapped.drop(_HEADING)
    mapped.drop(_QUOTE)
    mapped.drop(_BULLET)
    if "|" in mapped.text:
        mapped.drop(_EDGE_PIPE)
        mapped.sub(_PIPE, lambda _: ", ")
    mapped.drop(_ESCAPE)
    mapped.drop(_STRIKE)
    mapped.sub(_LONE_STARS, lambda _: " ")
    mapped.sub(_STARS, _star)
    mapped.drop(_UNDERSCORES)
    mapped.sub(_INNER_UNDERSCORE, lambda _: " ")
    mapped.drop(_BACKTICK)
    mapped.drop(_HASH_WORD)
