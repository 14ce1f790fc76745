"""Who may speak: the turn-taking engine of one call.

``Floor.handle(event, now)`` is synchronous and total: one fact in, a list of orders out, never an
exception for stale, repeated or hostile input. Time comes as an argument; timers go out as
``ArmTimer`` and come back as ``TimerFired``. The parts, one file each:

- ``holding`` takes the caller's voice, with ``gate`` (hold, commit, release);
- ``listening`` takes the caller's words, with ``words`` and ``echo`` (which words count),
  ``caller`` (audio and words on their way), ``ending`` and ``endpoint`` (when a turn ends);
  ``given`` takes keys (``keys``), texts and taps;
- ``turns`` holds the state table, ``taking`` the transitions of a turn;
- ``saying`` is the agent's side, with ``pacing``, ``fillers`` and ``silence``.

This module owns the order of the parts: which event goes where, and what is settled after each one
(``_settle``: turn over, kept words and keys, next turn, queue, fillers, silence). Stale ids end in
``Step.refuse``, the one counter.
"""

from runtime.agent import (
    AgentLost,
    AskTurn,
    CallReady,
    CallSettings,
    HangUp,
    Listen,
    Say,
    SayEnd,
    SayText,
    Transfer,
    TurnEnded,
    Working,
)
from voice.floor.actions import DropSay, FloorAction, HoldOutput, ReleaseOutput
from voice.floor.closing import Closing
from voice.floor.ending import Ending
from voice.floor.events import (
    ButtonTapped,
    CallerGone,
    FloorEvent,
    FramesStopped,
    KeyPressed,
    SayFailed,
    SayFinished,
    SayReady,
    SayStarted,
    SpeakerFinished,
    SpeakerResumed,
    TextTyped,
    TimerFired,
    Transcribed,
    TranscriberBack,
    TranscriberFailed,
    VoiceConfirmed,
    VoiceEnded,
    VoiceStarted,
)
from voice.floor.given import Given
from voice.floor.holding import Holding
from voice.floor.listening import Listening
from voice.floor.parts import Parts
from voice.floor.saying import Saying
from voice.floor.taking import Taking
from voice.floor.turns import State


class Floor:
    """The floor of one call."""

    __slots__ = (
        "_closing",
        "_ending",
        "_given",
        "_holding",
        "_listening",
        "_parts",
        "_saying",
        "_take",
    )

    def __init__(
        self,
        call: int,
        settings: CallSettings,
        *,
        strong_stt: bool,
        stt_ends_turns: bool = False,
    ) -> None:
        """Set up for a call; the first turn starts with ``CallReady``.

        Args:
            call: id that every message to the runtime carries.
            settings: what holds until ``CallReady`` brings the resolved ones.
            strong_stt: whether single words of the transcriber can be believed.
            stt_ends_turns: whether it says itself when a turn ends; the curve then only backs it
            up.
        """
        self._parts = Parts(call, settings, strong_stt=strong_stt, stt_ends_turns=stt_ends_turns)
        self._take = Taking(self._parts)
        self._ending = Ending(self._parts, self._take)
        self._holding = Holding(self._parts, self._take, self._ending)
        self._listening = Listening(self._parts, self._take, self._holding, self._ending)
        self._closing = Closing(self._parts, self._take)
        self._saying = Saying(self._parts, self._take)
        self._given = Given(self._parts, self._take)

    @property
    def stale(self) -> dict[str, int]:
        """Events refused so far, by kind: stale, repeated or malformed."""
        return dict(self._parts.step.stale)

    @property
    def state(self) -> State:
        """Who has the floor now."""
        return self._parts.state

    @property
    def gate_closed(self) -> bool:
        """Whether output is held."""
        return self._parts.gate.closed

    @property
    def closed(self) -> bool:
        """Whether ``EndCall`` was given."""
        return self._parts.closed

    @property
    def armed_timers(self) -> tuple[str, ...]:
        """Keys of the timers that are to fire."""
        return self._parts.step.armed

    @property
    def silence_off(self) -> bool:
        """Whether nothing happens however long the caller is silent."""
        return self._parts.silence.off

    @property
    def caller_speaking(self) -> bool:
        """Whether voice runs that wasn't found to be noise."""
        stretch = self._parts.caller.stretch
        return stretch is not None and stretch.running and not stretch.distrusted

    @property
    def running_turn(self) -> int | None:
        """Number of the turn that runs."""
        turn = self._parts.turns.running
        return None if turn is None else turn.number

    def handle(self, event: FloorEvent, now: int) -> list[FloorAction]:
        """Take one fact at ``now`` (ms of the call's clock) and return the orders, in order."""
        step = self._parts.step
        step.begin(now)
        if self._parts.closed:
            step.refuse(type(event).__name__)
            return [DropSay(event.say)] if isinstance(event, Say) else []
        if self._dispatch(event):
            self._settle()
        for action in step.actions:
            match action:
                case HoldOutput():
                    self._parts.spoken.held(step.now)
                case ReleaseOutput():
                    self._parts.spoken.released(step.now)
                case _:
                    pass
        return step.actions

    # ------------------------------------------------------------------ which event goes where

    def _dispatch(self, event: FloorEvent) -> bool:
        """Hand the event to its part; False when nothing else can have changed."""
        match event:
            case SayText():
                return self._saying.say_text(event)
            case Transcribed():
                self._listening.transcribed(event)
            case TimerFired():
                return self._timer(event)
            case VoiceStarted():
                self._holding.voice_started(event)
            case VoiceConfirmed():
                self._holding.voice_confirmed(event)
            case VoiceEnded():
                self._holding.voice_ended(event)
            case SayReady() | SayStarted() | SayFinished() | SayFailed():
                self._saying.playback(event)
            case KeyPressed() | TextTyped() | ButtonTapped():
                self._given.take(event)
            case CallerGone():
                self._closing.caller_gone(event)
                return False
            case SpeakerFinished():
                self._ending.speaker_finished(event)
            case SpeakerResumed():
                self._ending.speaker_resumed(event)
            case FramesStopped():
                self._holding.frames_stopped(event)
            case TranscriberFailed():
                self._holding.transcriber_failed()
            case TranscriberBack():
                self._holding.transcriber_back()
            case _:
                self._from_runtime(event)
        return True

    def _from_runtime(
        self,
        event: CallReady
        | Say
        | SayEnd
        | Working
        | Listen
        | TurnEnded
        | AskTurn
        | HangUp
        | Transfer
        | AgentLost,
    ) -> None:
        p = self._parts
        if event.call != p.call:
            p.step.refuse(type(event).__name__)
            return
        match event:
            case CallReady():
                p.use(event.settings)
                if not p.ready:
                    p.ready = True
                    p.caller.utterance.kept = p.caller.utterance.counts
                    self._take.start("opened")
            case Say():
                self._saying.say(event)
            case SayEnd():
                self._saying.say_end(event)
            case Working():
                turn = p.turns.of(event.turn)
                if turn is None or turn.ended:
                    p.step.refuse("Working")
                else:
                    turn.tools = event.open
                    turn.tools_started = turn.tools_started or bool(event.open)
            case Listen():
                if self._closing.is_current(event.turn):
                    p.listen_for(event)
                    self._ending.schedule()
                else:
                    p.step.refuse("Listen")
            case TurnEnded():
                turn = p.turns.of(event.turn)
                if turn is None or turn.ended:
                    p.step.refuse("TurnEnded")
                else:
                    turn.ended = True
                    turn.tools = ()
            case AskTurn():
                p.asked = True
            case HangUp() | Transfer():
                self._closing.hang_up(event)
            case AgentLost():
                self._saying.agent_lost()

    def _timer(self, event: TimerFired) -> bool:
        if not self._parts.step.fired(event.key, event.stamp):
            return False
        match event.key:
            case "confirm":
                self._holding.confirm_due()
            case "hold":
                self._holding.limit_due()
            case "release":
                self._holding.release_due()
            case "decode":
                self._holding.decode_due()
            case "endpoint":
                self._ending.due()
            case "voice_commit":
                self._holding.voice_commit_due()
            case "filler":
                self._saying.speak_filler("wait")
            case "silence":
                self._silence_due()
            case "expiry":
                if self._parts.silence.expires():
                    self._closing.caller_gone(CallerGone("expired"))
            case "keys":
                self._given.keys_timed_out()
            case "hang_up":
                turn = self._parts.turns.running
                if turn is not None:
                    turn.ended = True
            case _:
                pass  # "pace": the queue is looked at after every event
        return True

    def _silence_due(self) -> None:
        p = self._parts
        if p.silence.said_goodbye:
            self._closing.end_call("silence", "expired")
            return
        times = p.silence.broken()
        p.step.record("silence", "caller_silent", n=times)
        self._take.start("silence", times)

    # ------------------------------------------------------------------ after every event

    def _settle(self) -> None:
        if self._parts.closed:
            return
        p = self._parts
        self._finish_turn()
        if self._parts.closed:
            return
        self._use_what_was_kept()
        utterance = p.caller.utterance
        if p.turns.running is None and p.ready:
            if utterance.complete and utterance.counts and p.state is not State.PROTECTED:
                self._take.flush("words")
                self._take.start_spoken()
            elif p.asked and p.state is State.LISTENING and not p.caller_has_floor:
                p.asked = False
                self._take.start("asked")
        if p.caller.holds_floor and not p.gate.closed and p.turns.running is not None:
            self._holding.hold_for_speech()
        self._saying.update_waits()

    def _finish_turn(self) -> None:
        p = self._parts
        turn = p.turns.running
        if not p.pacing.empty:
            p.step.disarm("hang_up")
            return
        if p.hang_up is not None:
            self._closing.when_heard()
        elif turn is not None and turn.ended and turn.certain:
            p.turns.finish()
            p.fillers.turn_over()

    def _use_what_was_kept(self) -> None:
        """A protected line is over: its words and keys take effect."""
        p = self._parts
        utterance = p.caller.utterance
        if p.state is State.PROTECTED:
            if utterance.kept and utterance.complete and p.gate.taken:
                p.gate.give()
            return
        if utterance.kept:
            utterance.kept = False
            if p.state is not State.LISTENING:
                self._take.commit("words", "kept_words")
            elif not utterance.complete:
                p.gate.take()
        kept, p.kept = p.kept, []
        for event, given_ms in kept:
            self._given.take(event, given_ms)
