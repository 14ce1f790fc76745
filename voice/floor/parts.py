"""The one state of a call's floor: its parts, and what can be read off them together.

Owns no rule. ``listening`` and ``taking`` act on it, ``floor`` decides their order.
"""

from runtime.agent import CallSettings, HangUp, Listen, Transfer
from voice.floor.caller import Caller
from voice.floor.echo import SpokenLately
from voice.floor.endpoint import OwnPauses, end_delay_ms
from voice.floor.events import ButtonTapped, KeyPressed, TextTyped
from voice.floor.fillers import Fillers
from voice.floor.gate import Gate
from voice.floor.keys import Keys
from voice.floor.pacing import Line, Pacing
from voice.floor.silence import Silence
from voice.floor.step import Step
from voice.floor.turns import State, Turns, state_of
from voice.floor.words import Lexicon

_NO_LISTEN = Listen(call=0, turn=0)
_SLOW_ANSWER_MS = 500


class Parts:
    """Everything the floor knows about one call."""

    __slots__ = (
        "answer_ms",
        "asked",
        "call",
        "caller",
        "closed",
        "fillers",
        "gate",
        "hang_up",
        "kept",
        "keys",
        "lexicon",
        "listen",
        "pacing",
        "pauses",
        "ready",
        "settings",
        "silence",
        "spoken",
        "step",
        "strong",
        "stt_down",
        "stt_ends_turns",
        "turns",
        "unheard",
        "wants_filler",
    )

    def __init__(
        self, call: int, settings: CallSettings, *, strong_stt: bool, stt_ends_turns: bool
    ) -> None:
        self.call = call
        self.settings = settings
        self.strong = strong_stt
        self.stt_ends_turns = stt_ends_turns
        """The engine says itself when a turn ends (learnt from its first such fact)."""
        self.closed = False
        """``EndCall`` was given."""
        self.stt_down = False
        self.ready = False
        """The agent plane has taken the call."""
        self.step = Step()
        self.lexicon = Lexicon(settings.interruptions)
        self.caller = Caller()
        self.gate = Gate(self.step, settings.interruptions)
        self.turns = Turns()
        self.pacing = Pacing(self.step, settings)
        self.fillers = Fillers(self.step, settings.fillers)
        self.silence = Silence(self.step, settings)
        self.keys = Keys(self.step)
        self.spoken = SpokenLately()
        self.pauses = OwnPauses()
        self.listen = _NO_LISTEN
        """What the agent is listening for."""
        self.hang_up: HangUp | Transfer | None = None
        """To be done when all is heard."""
        self.asked = False
        """The runtime asks for a turn of its own when the floor is free."""
        self.wants_filler = False
        self.unheard = False
        """The caller spoke and no STT answered: somebody should say so."""
        self.kept: list[tuple[KeyPressed | TextTyped | ButtonTapped, int]] = []
        """What was given during a protected line, and when."""
        self.answer_ms = 0
        """How long answers take, from turn start to first sample heard; a running mean."""

    def use(self, settings: CallSettings) -> None:
        """Take the call's resolved settings."""
        self.settings = settings
        self.lexicon = Lexicon(settings.interruptions)
        self.gate.use(settings.interruptions)
        self.pacing.use(settings)
        self.fillers.use(settings.fillers)
        self.silence.use(settings)

    def listen_for(self, listen: Listen | None) -> None:
        """Expect this from the caller; None = anything."""
        self.listen = listen or _NO_LISTEN
        self.silence.limit(self.listen.silence_after_ms)

    @property
    def line(self) -> int | None:
        """Id of the line that is being heard."""
        audible = self.pacing.audible
        return None if audible is None else audible.say

    @property
    def state(self) -> State:
        """Who has the floor."""
        head = self.pacing.head
        return state_of(
            self.turns.running,
            audible=self.pacing.audible is not None,
            protected=head is not None and not head.interruptible,
            interruptible=self.settings.interruptions.enabled,
        )

    @property
    def over_filler(self) -> bool:
        """What is heard is only a filler."""
        audible = self.pacing.audible
        return audible is not None and audible.kind == "filler"

    @property
    def asking_yes_no(self) -> bool:
        """The line that is being heard asks for a yes or a no."""
        audible = self.pacing.audible
        if audible is None:
            return False
        running = self.turns.running
        listening = running is not None and self.listen.turn == running.number
        return (audible.expect is not None and audible.expect.kind == "yes_no") or (
            listening and self.listen.expect.kind == "yes_no"
        )

    @property
    def caller_has_floor(self) -> bool:
        """Words or keys wait to become a turn, or speech runs, or the gate is closed."""
        return (
            self.gate.closed
            or self.caller.utterance.counts
            or self.caller.holds_floor
            or self.keys.collecting
        )

    @property
    def agent_waits(self) -> bool:
        """A turn runs and its end isn't known: the caller is waiting for it."""
        turn = self.turns.running
        return turn is not None and turn.certain and not turn.ended and self.hang_up is None

    def may_play(self, line: Line) -> bool:
        """Whether a line may begin now."""
        turn = self.turns.running
        if self.gate.closed or (turn is not None and not turn.certain):
            return False
        if not line.interruptible:
            return True
        if not self.settings.interruptions.enabled and self.state is State.PROTECTED:
            return True
        return not self.caller_has_floor

    def end_delay_ms(self, text: str) -> int:
        """Silence after which these words are a turn."""
        return end_delay_ms(
            text,
            self.listen.expect,
            self.settings.turn_taking,
            usual_pause_ms=self.pauses.usual_ms,
            slow_answers=self.answer_ms >= _SLOW_ANSWER_MS,
        )

    def answered_after(self, ms: int) -> None:
        """Learn how long answers take."""
        self.answer_ms = ms if self.answer_ms == 0 else (3 * self.answer_ms + ms) // 4
