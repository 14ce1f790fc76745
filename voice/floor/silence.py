"""What to do when nobody says anything: check-ins, then goodbye; and when a call has expired.

Owns the clock of the caller's silence and how often it was broken by the agent. It runs only while
the agent listens and the caller makes no sound; a wordless sound only pauses it; words, keys and
taps start it anew. A changed limit counts from the start of the running wait.

The second clock, the call's expiry, runs whatever the agent does: it ends calls that the first
never would, because a tool hangs for hours or check-ins are turned off.
"""

from runtime.agent import CallSettings
from voice.floor.step import Step
from voice.floor.waits import Wait


class Silence:
    """The caller's silence since everything said was heard."""

    __slots__ = (
        "_acted_ms",
        "_expiration_ms",
        "_limit_ms",
        "_most",
        "_own_limit_ms",
        "_step",
        "_wait",
        "times",
    )

    def __init__(self, step: Step, settings: CallSettings) -> None:
        self._step = step
        self._wait = Wait()
        self._most = settings.silence_check_ins + 1
        self._own_limit_ms = settings.silence_timeout_ms
        self._limit_ms = self._own_limit_ms
        self._expiration_ms = settings.expiration_ms
        self._acted_ms = 0
        self.times = 0
        """Check-ins since the caller last said or keyed anything."""

    def use(self, settings: CallSettings) -> None:
        """Take the call's resolved settings."""
        self._most = settings.silence_check_ins + 1
        self._own_limit_ms = settings.silence_timeout_ms
        self._limit_ms = self._own_limit_ms
        self._expiration_ms = settings.expiration_ms
        self.expires()

    def limit(self, limit_ms: int | None) -> None:
        """Change how long this wait may last: None = the call's own, 0 = for ever."""
        self._limit_ms = self._own_limit_ms if limit_ms is None else max(0, limit_ms)

    @property
    def off(self) -> bool:
        """The caller may be silent for ever."""
        return self._limit_ms == 0

    @property
    def said_goodbye(self) -> bool:
        """The goodbye was given; what is left is to close."""
        return self.times >= self._most

    def caller_acted(self) -> None:
        """The caller said, keyed or tapped something."""
        self.times = 0
        self._acted_ms = self._step.now
        self._wait.restart()
        self._step.disarm("silence")

    def expires(self) -> bool:
        """Whether the call has expired; the clock is set for when that may be."""
        if not self._expiration_ms:
            return False
        due = self._acted_ms + self._expiration_ms
        if due <= self._step.now:
            return True
        self._step.arm("expiry", due)
        return False

    def update(self, *, listening: bool, quiet: bool, undecided: bool) -> None:
        """Run, pause or forget the clock as things are now.

        ``quiet``: no voice and no words on their way. ``undecided``: a sound has ended but its
        words may still come, so time passes and the check-in waits.
        """
        now = self._step.now
        if not listening:
            self._wait.restart()
            self._step.disarm("silence")
            return
        if not quiet:
            self._wait.stand(now)
            self._step.disarm("silence")
            return
        self._wait.run(now)
        if undecided or self._limit_ms == 0:
            self._step.disarm("silence")
        else:
            self._step.arm("silence", self._wait.due(self._limit_ms, now))

    def broken(self) -> int:
        """The wait is over: count it and say which one it was; it starts anew after the turn."""
        self.times += 1
        self._wait.restart()
        return self.times
