"""The answers to Twilio's webhook: connect the call to our stream, or say why not.

Owns these two documents. Pure.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

__all__ = ["connect", "refuse"]

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def connect(stream_url: str, parameters: Sequence[tuple[str, str]]) -> str:
    """Connect the call to a bidirectional stream that carries these parameters."""
    inner = "".join(
        f"<Parameter name={quoteattr(name)} value={quoteattr(value)}/>"
        for name, value in parameters
    )
    return (
        f"{_HEAD}<Response><Connect><Stream url={quoteattr(stream_url)}>{inner}</Stream>"
        "</Connect></Response>"
    )


def refuse(sentence: str) -> str:
    """Say one sentence and hang up."""
    return f"{_HEAD}<Response><Say>{escape(sentence)}</Say><Hangup/></Response>"
