"""What is said while the caller waits: one wait clock a turn.

Owns the clock, the count and the choice of words. The clock starts with the turn, restarts when
agent sound was heard to its end, and stands while anything is audible, held or about to be said, or
the caller has the floor. ``pacing`` queues what comes out; the runtime never learns of it.
"""

from runtime.agent import FillerSettings, OpenTool
from voice.floor.step import Step
from voice.floor.waits import Wait


class Fillers:
    """The wait of the running turn, and the phrases' turn-about over the call."""

    __slots__ = ("_count", "_next_phrase", "_settings", "_spoken_for", "_step", "_wait")

    def __init__(self, step: Step, settings: FillerSettings) -> None:
        self._step = step
        self._settings = settings
        self._wait = Wait()
        self._count = 0
        self._next_phrase = 0
        self._spoken_for: set[int] = set()
        """Calls whose own filler was used in this turn."""

    def use(self, settings: FillerSettings) -> None:
        """Take the call's resolved settings."""
        self._settings = settings

    @property
    def spent(self) -> bool:
        """No filler may come in this turn any more."""
        most = self._settings.most
        return not self._settings.enabled or not self._settings.phrases or self._count >= most

    def turn_started(self) -> None:
        """A new wait, a new count."""
        self._wait.restart()
        self._count = 0
        self._spoken_for.clear()
        self._step.disarm("filler")

    def turn_over(self) -> None:
        """Nobody waits."""
        self._wait.restart()
        self._step.disarm("filler")

    def sound_ended(self) -> None:
        """Agent sound was heard to its end: the wait begins anew."""
        self._wait.restart()
        self._step.disarm("filler")

    def model_spoke(self) -> None:
        """The model's own line beside a tool call counts as a filler."""
        self._count += 1

    def update(self, *, waiting: bool, standing: bool, tools: tuple[OpenTool, ...]) -> None:
        """Run or stand the clock as things are now, and arm its timer."""
        now = self._step.now
        if not waiting or standing or self.spent:
            self._wait.stand(now)
            self._step.disarm("filler")
            return
        self._wait.run(now)
        self._step.arm("filler", self._wait.due(self._limit_ms(tools), now))

    def speak(self, tools: tuple[OpenTool, ...]) -> str:
        """Choose the words of a filler that is to be spoken now, and count it."""
        self._count += 1
        for tool in tools:
            if tool.filler and tool.call_id not in self._spoken_for:
                self._spoken_for.add(tool.call_id)
                return tool.filler
        phrases = self._settings.phrases
        phrase = phrases[self._next_phrase % len(phrases)]
        self._next_phrase += 1
        return phrase

    def _limit_ms(self, tools: tuple[OpenTool, ...]) -> int:
        if self._count:
            return self._settings.every_ms
        return self._settings.after_ms if tools else 2 * self._settings.after_ms
