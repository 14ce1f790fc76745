"""The vocabulary of the local recognizer: token ids to text and back.

Owns the file's layout and the merging of pieces; pure but for being handed the file's bytes.

The file is a list of byte strings; a token's id is its place. Before each stands its length: one
byte under 128, else two, low part first, the low part with its top bit set (low - 128 + 128 times
high). Ids 0-2 are unknown, start and end; 3-258 are single bytes; the rest are pieces, in the order
in which they were learnt, so of two pieces that could be merged the lower id goes first. A piece
that begins a word begins with U+2581.
"""

from typing import Final

from runtime.errors import ProviderError

__all__ = ["END", "START", "Vocabulary"]

START: Final = 1
END: Final = 2
_FIRST_BYTE: Final = 3
_FIRST_PIECE: Final = 259
_WORD_MARK: Final = "\u2581"


class Vocabulary:
    """Reads the file once; ids out of range are left out of a text."""

    def __init__(self, data: bytes) -> None:
        """Parse the file.

        Raises:
            ProviderError: the bytes end inside an entry, or are no vocabulary.
        """
        self._pieces = _parse(data)
        if len(self._pieces) < _FIRST_PIECE:
            raise ProviderError("the vocabulary file is too short")
        # The last of two equal pieces would never be learnt: the first id is the one in use.
        self._ids: dict[bytes, int] = {}
        for token in range(_FIRST_PIECE, len(self._pieces)):
            self._ids.setdefault(self._pieces[token], token)

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self._pieces)

    def text(self, tokens: tuple[int, ...]) -> str:
        """Write tokens as text; special ones and broken UTF-8 leave nothing behind."""
        data = b"".join(
            self._pieces[token] for token in tokens if _FIRST_BYTE <= token < len(self._pieces)
        )
        return data.decode("utf-8", "ignore").replace(_WORD_MARK, " ").strip()

    def tokens(self, text: str) -> tuple[int, ...]:
        """Cut text into the tokens that the model learnt it in."""
        whole = _WORD_MARK + text.replace(" ", _WORD_MARK)
        parts = [char.encode() for char in whole]
        while True:
            pairs = [
                (self._ids[joined], at)
                for at in range(len(parts) - 1)
                if (joined := parts[at] + parts[at + 1]) in self._ids
            ]
            if not pairs:
                break
            _, at = min(pairs)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        found: list[int] = []
        for part in parts:
            known = self._ids.get(part)
            found.extend([known] if known is not None else (_FIRST_BYTE + byte for byte in part))
        return tuple(found)


def _parse(data: bytes) -> list[bytes]:
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        length = data[at]
        at += 1
        if length >= 128:
            if at >= len(data):
                raise ProviderError("the vocabulary file ends inside an entry")
            length += 128 * data[at] - 128
            at += 1
        if at + length > len(data):
            raise ProviderError("the vocabulary file ends inside an entry")
        pieces.append(data[at : at + length])
        at += length
    return pieces
