"""What the YAML parser complains about, said in an author's words.

Owns the table from the parser's complaint (and the characters at that place) to a message and its
mend. Finding the complaint is ``runtime.project.yaml_source``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """The parser's words and its two places; lines and columns count from 0."""

    context: str
    context_line: int
    context_column: int
    problem: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Wording:
    """What to tell the author, and where; line and column count from 0."""

    code: str
    message: str
    mend: str
    line: int
    column: int


def reword(complaint: Complaint, lines: Sequence[str]) -> Wording:
    """Turn the parser's complaint into one that an author can act on."""
    if "expected node content" in complaint.problem and not _char(complaint, lines):
        return _unfinished(complaint, lines)
    if "document start" in complaint.problem:
        return _second_start(complaint, lines)
    code, message, mend, at_context = _words(complaint, lines)
    if at_context:
        return Wording(code, message, mend, complaint.context_line, complaint.context_column)
    return Wording(code, message, mend, complaint.line, complaint.column)


def _words(complaint: Complaint, lines: Sequence[str]) -> tuple[str, str, str, bool]:
    problem, context = complaint.problem, complaint.context
    line = lines[complaint.line] if complaint.line < len(lines) else ""
    char = _char(complaint, lines)
    if "cannot start any token" in problem:
        return (*_bad_start(char), False)
    if "mapping values are not allowed" in problem:
        return (*_colon(line, complaint.column), False)
    if "quoted scalar" in context and "end of stream" in problem:
        opened = lines[complaint.context_line][complaint.context_column :][:1]
        return (
            "yaml_quote",
            "this quote is never closed",
            f"end the text with another {opened} or take the first one away",
            True,
        )
    if any(words in problem for words in ("unknown escape", "expected escape", "character escape")):
        return (
            "yaml_escape",
            "a backslash in double quotes begins an escape, and this one does not exist",
            "put the text in single quotes, or double the backslash",
            False,
        )
    if "scanning an alias" in context or "scanning an anchor" in context:
        return (*_bad_start(lines[complaint.context_line][complaint.context_column :][:1]), True)
    if "flow sequence" in context or "flow mapping" in context:
        opened = lines[complaint.context_line][complaint.context_column :]
        return (*(_hidden_end(opened) or _flow(context, line)), True)
    if "could not find expected ':'" in problem:
        return (
            "yaml_key",
            "this line is neither 'key: value' nor part of the text above it",
            "add the colon and a space, or indent it deeper than the key it belongs to",
            True,
        )
    if "block scalar" in context:
        return (
            "yaml_block_text",
            "text after '|' or '>' must begin on the next line",
            "move it down and indent it, or put the text in quotes",
            False,
        )
    return (*_other(problem, char), False)


def _char(complaint: Complaint, lines: Sequence[str]) -> str:
    """The character complained about; empty at the end of a line."""
    line = lines[complaint.line] if complaint.line < len(lines) else ""
    return line[complaint.column : complaint.column + 1]


def _second_start(complaint: Complaint, lines: Sequence[str]) -> Wording:
    """A '...' or '%' ended the document; the parser complains about what stands below it."""
    above = range(min(complaint.line, len(lines) - 1), -1, -1)
    at = next((n for n in above if lines[n].startswith(("...", "%"))), complaint.line)
    mark = "..." if at < len(lines) and lines[at].startswith("...") else "%"
    what = f"a line that begins with '{mark}' ends what can be read of the file"
    return Wording("yaml_document", what, f"take the '{mark}' line away", at, 0)


def _unfinished(complaint: Complaint, lines: Sequence[str]) -> Wording:
    """The text is over within a value: a bracket is open."""
    found = _open_bracket(lines)
    if found is None:
        what = "the text ends in the middle of a value"
        return Wording("yaml_bracket", what, "finish the value", complaint.line, complaint.column)
    line, column = found
    opened = lines[line][column:]
    hidden = _hidden_end(opened)
    close = _CLOSING[opened[0]]
    words = hidden or (
        "yaml_bracket",
        f"this '{opened[0]}' is never closed",
        f"close it with '{close}', or put the whole text in quotes if '{opened[0]}' is part of it",
    )
    return Wording(*words, line, column)


_CLOSING = {"[": "]", "{": "}"}
_COMMENT = re.compile(r"(?:^|[\s\[{,])(#)")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")


def _hidden_end(opened: str) -> tuple[str, str, str] | None:
    """What to say of a bracket whose end stands behind a '#'."""
    bare = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), opened)
    comment = _COMMENT.search(bare)
    close = _CLOSING.get(opened[:1], "")
    if comment is None or not close or close not in bare[comment.start(1) :]:
        return None
    return (
        "yaml_bracket",
        f"'#' begins a comment, so that this '{opened[0]}' is not closed",
        f"put the text with '#' in quotes, as in {opened[0]}\"#\"{close}",
    )


def _open_bracket(lines: Sequence[str]) -> tuple[int, int] | None:
    """The innermost bracket that is open at the end, where one can begin a value."""
    opened: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        bare = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), line)
        comment = _COMMENT.search(bare)
        for match in re.finditer(r"[\[\]{}]", bare[: comment.start(1)] if comment else bare):
            before = bare[: match.start()].rstrip()
            if match[0] in "]}":
                del opened[-1:]
            elif opened or before[-1:] in ("", ":", "-"):
                opened.append((number, match.start()))
    return opened[-1] if opened else None


def _bad_start(char: str) -> tuple[str, str, str]:
    if char == "\t":
        return (
            "yaml_tab",
            "a tab is used for indentation, which YAML does not allow",
            "indent with spaces",
        )
    return (
        "yaml_bad_start",
        f"a text can't begin with '{char}' unless it is in quotes",
        "put the text in quotes",
    )


def _colon(line: str, column: int) -> tuple[str, str, str]:
    before = line[:column]
    if ": " in before:
        return (
            "yaml_colon",
            "there is a second ': ' in this line, so YAML takes it for another key",
            "put the text in quotes because of ': '",
        )
    return (
        "yaml_indent",
        "a key can't stand here: the line above is already a value",
        "give this line the same indentation as its neighbours, or put the text in quotes because "
        "of ': '",
    )


def _flow(context: str, line: str) -> tuple[str, str, str]:
    if "${" in line:
        return (
            "yaml_variable_in_braces",
            "inside { } or [ ] a variable must be in quotes",
            'write "${NAME}" with the quotes',
        )
    close = "]" if "sequence" in context else "}"
    opened = "[" if close == "]" else "{"
    return (
        "yaml_bracket",
        f"this '{opened}' is not closed before the next key, or a comma is missing in it",
        f"close it with '{close}', or put the whole text in quotes if '{opened}' is part of it",
    )


def _other(problem: str, char: str) -> tuple[str, str, str]:
    if "did not find expected '-'" in problem or "expected <block end>, but found '?'" in problem:
        return (
            "yaml_mixed",
            "list items ('- …') and keys ('key: …') are mixed at one level",
            "indent this line deeper to make it part of the last item, or begin it with '- '",
        )
    if "sequence entries are not allowed" in problem:
        return (
            "yaml_dash",
            "a list can't begin in the middle of a line",
            "put '- …' on a line of its own, or the text in quotes if '-' is all of it",
        )
    if "mapping keys are not allowed" in problem:
        return ("yaml_question", "a text can't begin with '? '", "put the text in quotes")
    if "expected node content" in problem:
        return (
            "yaml_bad_start",
            f"a text can't begin with '{char}' unless it is in quotes",
            "put the text in quotes",
        )
    if char and char in "]}":
        what = f"this '{char}' closes nothing"
        return ("yaml_bracket", what, "take it away, or put the whole text in quotes")
    if "expected key" in problem or "expected <block end>" in problem:
        return (
            "yaml_key",
            "this is neither a key of this block nor part of the value before it",
            "check the indentation; a text with quotes in it goes in quotes of the other kind",
        )
    if "nesting depth" in problem:
        return ("too_deep", "far too many levels of nesting", "flatten it")
    return ("yaml_syntax", f"the file can't be read here: {problem}", "check the lines around it")
