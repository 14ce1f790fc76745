"""The keypad: which keys make one input.

Owns the digits that are being collected and the time between them. Keys are text from end to end,
so leading zeros stay. Whether a key may interrupt is the state table's to say.
"""

from typing import Final

from runtime.agent import KeyRule
from voice.floor.step import Step

_KEYS: Final = frozenset("0123456789*#ABCD")
_MOST_KEYS: Final = 64


def key_of(raw: str) -> str | None:
    """The key a message names, or None when there is no such key."""
    key = raw.strip().upper()
    return key if key in _KEYS else None


class Keys:
    """Digits on their way to an input."""

    __slots__ = ("_digits", "_rule", "_step")

    def __init__(self, step: Step) -> None:
        self._step = step
        self._digits = ""
        self._rule: KeyRule | None = None

    @property
    def collecting(self) -> bool:
        """Some keys came and more are awaited."""
        return self._rule is not None

    def press(self, key: str, rule: KeyRule | None) -> str | None:
        """Take a key; return the input when it is complete.

        The rule of the first key holds for the whole input. Without one each key is an input.
        """
        if self._rule is None:
            if rule is None:
                return key
            self._rule = rule
            self._digits = ""
        rule = self._rule
        if rule.finish is not None and key == rule.finish.strip().upper():
            return self._complete() if self._digits else self._alone(key)
        self._digits += key
        wanted = rule.length if rule.length is not None and rule.length > 0 else _MOST_KEYS
        if len(self._digits) >= min(wanted, _MOST_KEYS):
            return self._complete()
        self._step.arm("keys", self._step.now + max(1, rule.inter_digit_ms))
        return None

    def abandon(self) -> str:
        """Something else was given instead; return the digits that came to nothing."""
        return self._complete()

    def timed_out(self) -> str:
        """The time between two keys is over: what came is the input."""
        return self._complete()

    def _complete(self) -> str:
        digits = self._digits
        self._rule = None
        self._digits = ""
        self._step.disarm("keys")
        return digits

    def _alone(self, key: str) -> str:
        """The finishing key with nothing before it: better an input than an empty one."""
        self._rule = None
        return key
