"""Numbers as an English speaker says them.

First the simplest; grows below.
"""

from voice.speaking.wording_text import MappedText


def put_into_words(mapped: MappedText) -> None:
    """Rewrite numbers."""
