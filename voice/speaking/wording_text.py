"""Text that remembers where it came from while it is rewritten.

Owns the monotone map from each spoken character to the written text; what is rewritten into what
belongs to ``wording`` and its tables. Pure.
"""

import re
from collections.abc import Callable


class MappedText:
    """A string under rewriting, with the written offset that each of its characters completes.

    A replaced stretch counts as said only with its last character: "$5.50" is heard when "cents"
    is. Deleted marks belong to the character before them.
    """

    __slots__ = ("_ends", "_tail", "text")

    def __init__(self, text: str) -> None:
        """Begin with spoken = written."""
        self.text = text
        self._ends = list(range(1, len(text) + 1))
        self._tail = len(text)

    @property
    def ends(self) -> tuple[int, ...]:
        """For each character, how much of the written text is said once it is; never falls."""
        return tuple(self._ends)

    def sub(self, pattern: "re.Pattern[str]", replace: Callable[["re.Match[str]"], str]) -> None:
        """Replace every match; a replacement equal to the match leaves its map alone."""
        text, old = self.text, self._ends
        parts: list[str] = []
        ends: list[int] = []
        at = 0
        for match in pattern.finditer(text):
            start, end = match.span()
            new = replace(match)
            if new == text[start:end]:
                continue
            parts.append(text[at:start])
            ends.extend(old[at:start])
            before = ends[-1] if ends else 0
            if new:
                parts.append(new)
                done = old[end - 1] if end > start else before
                ends.extend([before] * (len(new) - 1))
                ends.append(done)
            elif ends and end > start:
                ends[-1] = old[end - 1]
            at = end
        if at == 0 and not parts:
            return
        parts.append(text[at:])
        ends.extend(old[at:])
        self.text = "".join(parts)
        self._ends = ends

    def drop(self, pattern: "re.Pattern[str]") -> None:
        """Delete every match."""
        self.sub(pattern, lambda _: "")
