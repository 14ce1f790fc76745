"""Author YAML in, a tree of nodes with places out; hostile files are refused before use.

Owns decoding, the limits (1 MiB, depth, what aliases expand to, cycles), duplicate keys, ``${VAR}``
and the rule that secrets come from the environment. The tree is built from the parser's events, so
nothing is ever constructed from a tag and no recursion follows the input. What the nodes mean is
``yaml_nodes``; typed reading is ``fields``; the parser's complaints are reworded by ``yaml_words``.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from collections.abc import Mapping as MappingABC
from collections.abc import Sequence as SequenceABC
from dataclasses import dataclass, field
from typing import Protocol, cast

import yaml

from runtime.errors import Place
from runtime.project.problems import SECRET_KEYS, Problems
from runtime.project.yaml_nodes import Entry, Mapping, Node, Scalar, Sequence
from runtime.project.yaml_words import Complaint, reword

MAX_BYTES = 1 << 20
MAX_DEPTH = 50
MAX_ALIASED_NODES = 10_000

_BREAKS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_VARIABLE = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}|\$\{")
_WHOLE_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}")
_STR_TAGS = frozenset({"!", "tag:yaml.org,2002:str"})


def read_text(data: bytes, file: str, problems: Problems) -> str | None:
    """Decode an author's file; ``None`` after a problem was noted."""
    if len(data) > MAX_BYTES:
        problems.add(
            Place(file),
            "file_too_large",
            f"the file has {len(data)} bytes; 1 MiB is the most",
            "split it",
        )
        return None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:4]:
        problems.add(Place(file), "encoding", "the file is UTF-16", "save it as UTF-8")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        place = _place_after(before, file)
        problems.add(place, "encoding", "the file is not UTF-8 from here on", "save it as UTF-8")
        return None
    lines = _BREAKS.split(text)
    problems.know_lines(file, lines)
    control = _CONTROL.search(text)
    if control is not None:
        place = _place_after(text[: control.start()], file)
        problems.add(
            place,
            "control_character",
            f"there is an invisible control character here (U+{ord(control.group()):04X})",
            "delete it",
        )
        return None
    return text


def read_yaml(
    data: bytes, file: str, problems: Problems, env: MappingABC[str, str] | None
) -> Node | None:
    """Read one file; ``None`` when it is empty or can't be read. ``env=None`` leaves ``${…}`` as
    it is.
    """
    text = read_text(data, file, problems)
    return None if text is None else parse(text, file, problems, env)


def parse(
    text: str,
    file: str,
    problems: Problems,
    env: MappingABC[str, str] | None,
    first_line: int = 1,
) -> Node | None:
    """Build the tree of ``text``, which begins at ``first_line`` of its file."""
    builder = _Builder(file, problems, env, first_line)
    try:
        for event in _events(text):
            if not builder.take(event):
                return None
    except yaml.YAMLError as error:
        _complain(error, text, file, first_line, problems)
        return None
    builder.tell_secrets()
    return builder.root


# ------------------------------------------------------------------ the parser's events


class _Mark(Protocol):
    line: int
    column: int


class _Event(Protocol):
    """What we use of PyYAML's events; which of it is there depends on the class."""

    start_mark: _Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None


def _events(text: str) -> Iterator[_Event]:
    # PyYAML ships no types; the C parser is there in every wheel, not in every distribution.
    loader: object = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parse_events = cast(
        Callable[..., Iterator[_Event]],
        yaml.parse,  # pyright: ignore[reportUnknownMemberType] no stubs
    )
    return parse_events(text, Loader=loader)


def _complain(
    error: yaml.YAMLError, text: str, file: str, first_line: int, problems: Problems
) -> None:
    lines = _BREAKS.split(text)
    mark = cast("_Mark | None", getattr(error, "problem_mark", None))
    context = cast("_Mark | None", getattr(error, "context_mark", None)) or mark
    words = reword(
        Complaint(
            context=str(getattr(error, "context", None) or ""),
            context_line=context.line if context else 0,
            context_column=context.column if context else 0,
            problem=str(getattr(error, "problem", None) or "not YAML"),
            line=mark.line if mark else 0,
            column=mark.column if mark else 0,
        ),
        lines,
    )
    place = Place(file, words.line + first_line, words.column + 1)
    problems.add(place, words.code, words.message, words.mend)


# ------------------------------------------------------------------ building


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    place: Place
    is_mapping: bool
    anchor: str | None
    size: int = 1
    """Nodes in it, aliases counted with all they stand for."""
    items: list[Node] = field(default_factory=list[Node])
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    key: tuple[str, Place] | None = None


class _Builder:
    """Takes events one by one and holds the unfinished nodes on a stack of its own."""

    def __init__(
        self,
        file: str,
        problems: Problems,
        env: MappingABC[str, str] | None,
        first_line: int,
    ) -> None:
        self.root: Node | None = None
        self._file = file
        self._problems = problems
        self._env = env
        self._first_line = first_line
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._aliased = 0
        self._documents = 0
        self._dollars: list[tuple[str, Scalar]] = []

    def take(self, event: _Event) -> bool:
        """Use one event; False ends the reading (a problem was noted)."""
        place = self._place(event.start_mark)
        match type(event).__name__:
            case "DocumentStartEvent":
                return self._document(place)
            case "ScalarEvent":
                return self._scalar(event, place)
            case "AliasEvent":
                return self._alias(event, place)
            case "SequenceStartEvent" | "MappingStartEvent" as name:
                return self._open(event, place, is_mapping=name == "MappingStartEvent")
            case "SequenceEndEvent" | "MappingEndEvent":
                return self._close()
            case _:
                return True

    def _place(self, mark: _Mark) -> Place:
        return Place(self._file, mark.line + self._first_line, mark.column + 1)

    def _refuse(self, place: Place, code: str, message: str, mend: str) -> bool:
        self._problems.add(place, code, message, mend)
        return False

    def _document(self, place: Place) -> bool:
        self._documents += 1
        if self._documents == 1:
            return True
        return self._refuse(
            place, "yaml_document", "a second document begins here", "take the '---' line away"
        )

    def _tag_ok(self, event: _Event, place: Place) -> bool:
        if event.tag is None or event.tag in _STR_TAGS:
            return True
        return self._refuse(
            place,
            "yaml_tag",
            "a text can't begin with '!' unless it is in quotes, and tags are not supported",
            "put the text in quotes, or take the tag away",
        )

    def _open(self, event: _Event, place: Place, *, is_mapping: bool) -> bool:
        if not self._tag_ok(event, place):
            return False
        if len(self._stack) >= MAX_DEPTH:
            return self._refuse(
                place, "too_deep", f"more than {MAX_DEPTH} levels of nesting", "flatten it"
            )
        if self._expects_key():
            return self._refuse(
                place,
                "yaml_key",
                "a key must be a text, and '{' or '[' begins something else",
                "put the text in quotes",
            )
        self._stack.append(_Open(place, is_mapping, event.anchor))
        return True

    def _close(self) -> bool:
        done = self._stack.pop()
        node: Node = (
            Mapping(done.place, tuple(done.entries.values()))
            if done.is_mapping
            else Sequence(done.place, tuple(done.items))
        )
        if done.anchor is not None:
            self._anchors[done.anchor] = (node, done.size)
        return self._add(node, done.size)

    def _scalar(self, event: _Event, place: Place) -> bool:
        if not self._tag_ok(event, place):
            return False
        plain = not event.style and event.tag is None
        written = event.value
        if self._expects_key():
            self._check_characters(written, place)
            if event.anchor is not None:
                self._anchors[event.anchor] = (Scalar(place, written, written, plain), 1)
            return self._key(unicodedata.normalize("NFC", written), place)
        expanded, is_unset = self._expand(written, place)
        text = unicodedata.normalize("NFC", expanded)
        self._check_characters(text, place)
        node = Scalar(place, written, text, plain, is_unset)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, 1)
        return self._add(node, 1)

    def _alias(self, event: _Event, place: Place) -> bool:
        name = event.anchor or ""
        if any(name == level.anchor for level in self._stack):
            return self._refuse(
                place, "yaml_cycle", f"'*{name}' contains itself", "take the alias away"
            )
        known = self._anchors.get(name)
        if known is None:
            return self._refuse(
                place,
                "yaml_alias",
                f"'*{name}' refers to an anchor '&{name}' that is not above it",
                "put the text in quotes if it just begins with '*'",
            )
        node, size = known
        self._aliased += size
        if self._aliased > MAX_ALIASED_NODES:
            return self._refuse(
                place,
                "alias_expansion",
                f"the aliases of this file stand for more than {MAX_ALIASED_NODES} values",
                "write the values out where they are needed",
            )
        if self._expects_key():
            if isinstance(node, Scalar):
                return self._key(node.text, place)
            return self._refuse(place, "yaml_key", "a key must be a text", "write the key out")
        return self._add(node, size)

    # ---------------------------------------------------------------- attaching

    def _expects_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_mapping and self._stack[-1].key is None

    def _key(self, key: str, place: Place) -> bool:
        # A duplicate is noted and its value still read, so that later problems are found too.
        level = self._stack[-1]
        first = level.entries.get(key)
        if first is not None:
            self._problems.add(
                place,
                "duplicate_key",
                f"the key '{key}' is written twice; first at {first.place}",
                "keep one of them",
            )
        level.key = (key, place)
        return True

    def _add(self, node: Node, size: int) -> bool:
        if not self._stack:
            self.root = node
            return True
        level = self._stack[-1]
        level.size += size
        if not level.is_mapping:
            level.items.append(node)
        elif level.key is not None:
            key, place = level.key
            level.key = None
            level.entries.setdefault(key, Entry(place, key, node))
            self._check_secret(key, node)
        return True

    def _check_characters(self, text: str, place: Place) -> None:
        """What may not stand in the file may not come in by an escape or a variable either."""
        control = _CONTROL.search(text)
        if control is not None:
            self._problems.add(
                place,
                "control_character",
                "this text holds an invisible control character "
                f"(U+{ord(control.group()):04X}), by an escape or a variable",
                "take it away: nobody can say or hear it",
            )

    # ---------------------------------------------------------------- variables and secrets

    def _expand(self, written: str, place: Place) -> tuple[str, bool]:
        """(the text with its variables filled in, whether one of them could not be)."""
        env = self._env
        if env is None or "$" not in written:
            return written, False
        before = len(self._problems.found)

        def value(match: re.Match[str]) -> str:
            escaped, name, has_default, default = match.groups()
            if escaped:
                return "${"
            if name is None:
                self._problems.add(
                    place,
                    "bad_variable",
                    "'${' begins a variable, and this one has no proper name and '}'",
                    "write ${NAME}, or $${ for the two characters themselves",
                )
                return ""
            if name in env:
                self._problems.know_value(place, name, env[name])
                return env[name]
            if has_default is None:
                self._problems.add(
                    place,
                    "unset_variable",
                    f"the environment variable {name} is not set",
                    f"set it, or write ${{{name}:-a default}}",
                )
            return str(default or "")

        text = _VARIABLE.sub(value, written)
        return text, len(self._problems.found) > before

    def _check_secret(self, key: str, node: Node) -> None:
        if self._env is None or key not in SECRET_KEYS or not isinstance(node, Scalar):
            return
        if node.is_null or _WHOLE_VARIABLE.fullmatch(node.written):
            return
        if node.written == "$":  # "${NAME}" within braces and without quotes begins like that
            self._dollars.append((key, node))
            return
        self._add_literal_secret(key, node)

    def tell_secrets(self) -> None:
        """At the end of a file that could be read: what did not begin a variable after all."""
        for key, node in self._dollars:
            self._add_literal_secret(key, node)

    def _add_literal_secret(self, key: str, node: Scalar) -> None:
        self._problems.add(
            node.place,
            "literal_secret",
            f"'{key}' is a secret and must not stand in a file",
            f"write ${{{key.upper()}}} and set that variable in the environment",
        )


def _place_after(before: str, file: str) -> Place:
    lines: SequenceABC[str] = _BREAKS.split(before)
    return Place(file, len(lines), len(lines[-1]) + 1)
