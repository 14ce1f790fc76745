"""Whatever comes, in whatever order: what a caller may count on.

A rule-based machine feeds the floor with events of every kind (true, stale and hostile), lets time
pass with timers and a player, and checks the invariants after each step.
"""

from collections.abc import Callable

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from runtime.agent import (
    AgentLost,
    AskTurn,
    CallReady,
    CallSettings,
    ConfirmTurn,
    Expect,
    FillerSettings,
    HangUp,
    InterruptionSettings,
    InterruptTurn,
    KeyRule,
    Listen,
    OpenTool,
    RetractTurn,
    Say,
    SayEnd,
    SayText,
    StartTurn,
    Transfer,
    TurnEnded,
    Working,
)
from tests.voice.floor.scene import CALL, Scene
from voice.floor.actions import (
    AllowSay,
    ArmTimer,
    DropSay,
    EndCall,
    FloorAction,
    FlushOutput,
    HoldOutput,
    Record,
    ReleaseOutput,
    SpeakLine,
)
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
from voice.floor.turns import State

TEXTS = st.sampled_from(
    [
        "",
        " ",
        "\u200b",
        ".",
        "okay",
        "uh-huh",
        "hello?",
        "are you there",
        "stop",
        "no wait",
        "I would like a table for six.",
        "my number is oh four one",
        "thank you",
        "\u266a",
        "ja",
    ]
)
ANY_INT = st.integers(-50, 60)
KINDS = st.sampled_from(["reply", "line", "beside_tool", "check_in"])
EXPECTS = st.sampled_from([Expect(), Expect("yes_no"), Expect("digits", 6), Expect("choice")])
TIMERS = st.sampled_from(
    ["confirm", "hold", "release", "decode", "endpoint", "filler", "silence", "keys", "pace", "x"]
)


class Checker:
    """Follows the orders and knows what must never happen."""

    def __init__(self, budget_ms: int, most_fillers: int) -> None:
        self.budget_ms = budget_ms
        self.most_fillers = most_fillers
        self.running: int | None = None
        self.over: set[int] = set()
        self.turn_of: dict[int, int] = {}
        self.held = False
        self.gone = False
        self.pause: tuple[int, int] | None = None
        """Line and moment of the running hold over an audible line."""
        self.paused_ms: dict[int, int] = {}
        self.fillers = 0

    def take(self, action: FloorAction, now: int, audible: int | None) -> None:
        if self.gone:
            assert isinstance(action, EndCall | InterruptTurn | DropSay | Record)
        match action:
            case StartTurn(turn=turn):
                assert self.running is None, "two turns at once"
                assert turn not in self.over
                self.running = turn
                self.fillers = 0
            case InterruptTurn(turn=turn) | RetractTurn(turn=turn):
                assert turn == self.running, "ended twice"
                self.over.add(turn)
                self.running = None
                self.pause = None
            case FlushOutput():
                self.pause = None
            case ConfirmTurn(turn=turn):
                assert turn == self.running
            case AllowSay(say=say):
                assert not self.held, "allowed while held"
                assert self.turn_of[say] == self.running, "a line of a dead turn"
            case SpeakLine(kind=kind):
                assert not self.held
                if kind == "filler":
                    self.fillers += 1
                    assert self.fillers <= self.most_fillers
            case HoldOutput():
                assert not self.held
                self.held = True
                if audible is not None:
                    self.pause = (audible, now)
            case ReleaseOutput():
                assert self.held
                self.held = False
                if self.pause is not None:
                    line, since = self.pause
                    self.paused_ms[line] = self.paused_ms.get(line, 0) + now - since
                    assert self.paused_ms[line] <= self.budget_ms, "over the pause budget"
                self.pause = None
            case _:
                pass


class StagedFloor(Scene):
    """A scene whose every order is checked."""

    def __init__(self, settings: CallSettings, *, strong: bool) -> None:
        self.checker = Checker(settings.interruptions.pause_budget_ms, settings.fillers.most)
        self.hurt = False
        """The far end's reports were forged: what it heard is no longer known."""
        super().__init__(settings, strong=strong, ready=False)

    def do(self, event: FloorEvent) -> list[FloorAction]:
        floor, checker = self.floor, self.checker
        before = floor.state
        speaking = floor.caller_speaking
        audible = next(iter(self.player.allowed), None)
        if audible not in self.player.started:
            audible = None
        turn_before = floor.running_turn
        actions = super().do(event)
        lost = isinstance(event, AgentLost) and turn_before is not None and not floor.closed
        if lost and not any(isinstance(a, RetractTurn) for a in actions):
            checker.over.add(turn_before)
            checker.running = None
            checker.pause = None
        for action in actions:
            if isinstance(action, StartTurn):
                # the turn before it came to its own end in this very step, or earlier
                if checker.running is not None and checker.running == turn_before:
                    checker.over.add(checker.running)
                    checker.running = None
                if action.cause == "silence":
                    assert before is State.LISTENING, "broke no silence"
                    assert not speaking
            if isinstance(action, FlushOutput):
                audible = None
            checker.take(action, self.now, audible)
        if isinstance(event, CallerGone):
            checker.gone = True
        if floor.running_turn is None and checker.running is not None and not floor.closed:
            checker.over.add(checker.running)
            checker.running = None
        return actions


class FloorMachine(RuleBasedStateMachine):
    """Events of every kind in any order."""

    scene: StagedFloor

    @initialize(
        strong=st.booleans(),
        enabled=st.booleans(),
        min_words=st.integers(1, 2),
        silence=st.sampled_from([0, 3000, 7000]),
    )
    def set_up(self, strong: bool, enabled: bool, min_words: int, silence: int) -> None:
        self.scene = StagedFloor(
            CallSettings(
                interruptions=InterruptionSettings(enabled=enabled, min_words=min_words),
                fillers=FillerSettings(after_ms=700, every_ms=1500, most=2),
                silence_timeout_ms=silence,
            ),
            strong=strong,
        )
        self.say = 0
        self.onset = 0
        self.segment = 0
        self.ready = False

    # ---------------------------------------------------------------- time

    @rule(ms=st.sampled_from([10, 60, 140, 300, 700, 1500, 4000, 9000]))
    def time_passes(self, ms: int) -> None:
        self.scene.until(self.scene.now + ms)

    # ---------------------------------------------------------------- the caller

    @rule(lag=st.integers(0, 80))
    def voice_starts(self, lag: int) -> None:
        self.onset = max(0, self.scene.now - lag)
        self.scene.do(VoiceStarted(self.onset))

    @rule()
    def voice_is_confirmed(self) -> None:
        self.scene.do(VoiceConfirmed(self.onset))

    @rule(confirmed=st.booleans())
    def voice_ends(self, confirmed: bool) -> None:
        now = self.scene.now
        self.scene.do(
            VoiceEnded(self.onset, max(self.onset, now - 30), now - self.onset, confirmed)
        )

    @rule(
        text=TEXTS,
        is_final=st.booleans(),
        logprob=st.sampled_from([0.0, -0.4, -2.0]),
        verdict=st.sampled_from(["words", "backchannel", "garble"]),
    )
    def words_come(self, text: str, is_final: bool, logprob: float, verdict: str) -> None:
        now = self.scene.now
        self.segment += is_final
        self.scene.do(
            Transcribed(
                text,
                is_final,
                self.onset,
                now,
                max(0, now - self.onset),
                logprob,
                (),
                verdict,  # type: ignore[arg-type]
                self.segment if is_final else 0,
            )
        )

    @rule(
        onset=st.integers(0, 900),
        length=st.integers(60, 1500),
        text=TEXTS,
        with_partial=st.booleans(),
    )
    def caller_speaks(self, onset: int, length: int, text: str, with_partial: bool) -> None:
        scene = self.scene
        start = scene.now + onset
        self.onset = start
        self.segment += 1
        scene.voice(start, start + length)
        if with_partial:
            scene.at(
                start + length * 2 // 3,
                Transcribed(text, False, start, start + length // 2, length // 2),
            )
        scene.at(
            start + length + 200,
            Transcribed(text, True, start, start + length, length, segment=self.segment),
        )
        scene.until(start + length + 300)

    @rule(key=st.sampled_from(["1", "0", "#", "*", "a", "x", "", "12"]))
    def key_pressed(self, key: str) -> None:
        self.scene.do(KeyPressed(key))

    @rule(text=TEXTS, tap=st.booleans())
    def text_comes(self, text: str, tap: bool) -> None:
        self.scene.do(ButtonTapped(text) if tap else TextTyped(text))

    @rule(certain=st.booleans(), back=st.integers(0, 300))
    def engine_ends_the_turn(self, certain: bool, back: int) -> None:
        self.scene.do(SpeakerFinished(certain, self.scene.now - back))

    @rule()
    def engine_takes_it_back(self) -> None:
        self.scene.do(SpeakerResumed(self.scene.now))

    @rule(back=st.integers(0, 1500))
    def frames_stop(self, back: int) -> None:
        self.scene.do(FramesStopped(self.scene.now - back))

    @rule(down=st.booleans())
    def transcriber_goes_or_comes(self, down: bool) -> None:
        self.scene.do(TranscriberFailed("socket") if down else TranscriberBack())

    # ---------------------------------------------------------------- the runtime

    @rule()
    def call_is_ready(self) -> None:
        self.scene.do(CallReady(CALL, "c", self.scene.settings))
        self.ready = True

    @rule(
        ahead=st.sampled_from([0, 0, 0, 0, -1, 1]),
        kind=KINDS,
        protected=st.booleans(),
        expect=EXPECTS,
        ms=st.sampled_from([200, 1500, 5000]),
        ends=st.booleans(),
    )
    def agent_says(
        self, ahead: int, kind: str, protected: bool, expect: Expect, ms: int, ends: bool
    ) -> None:
        scene = self.scene
        self.say += 1
        turn = scene.turn + ahead
        scene.player.length_ms[self.say] = ms
        scene.checker.turn_of[self.say] = turn
        scene.do(Say(CALL, turn, self.say, kind, not protected))  # type: ignore[arg-type]
        scene.do(SayText(CALL, turn, self.say, "We are open from nine to five."))
        scene.do(SayEnd(CALL, turn, self.say, expect))
        if ends:
            scene.do(TurnEnded(CALL, turn, "done"))

    @rule(ahead=st.sampled_from([0, 0, 0, -1, 1]))
    def turn_ends(self, ahead: int) -> None:
        self.scene.do(TurnEnded(CALL, self.scene.turn + ahead, "done"))

    @rule(
        ahead=st.sampled_from([0, 0, 0, -1]),
        expect=EXPECTS,
        keys=st.sampled_from([None, KeyRule(length=3), KeyRule(finish="#", speech_too=False)]),
        silence=st.sampled_from([None, 0, 2000]),
    )
    def agent_listens(
        self, ahead: int, expect: Expect, keys: KeyRule | None, silence: int | None
    ) -> None:
        self.scene.do(Listen(CALL, self.scene.turn + ahead, expect, keys, silence))

    @rule(ahead=st.sampled_from([0, 0, 0, -1]), count=st.integers(0, 2))
    def tools_change(self, ahead: int, count: int) -> None:
        tools = tuple(OpenTool(n, "look_up", "One second.") for n in range(count))
        self.scene.do(Working(CALL, self.scene.turn + ahead, tools))

    @rule()
    def runtime_asks_for_a_turn(self) -> None:
        self.scene.do(AskTurn(CALL, "news"))

    @rule()
    def agent_is_lost(self) -> None:
        self.scene.do(AgentLost(CALL, "killed"))

    @rule(
        rare=st.integers(0, 7),
        ahead=st.sampled_from([0, -1]),
        transfer=st.booleans(),
        when=st.sampled_from(["heard", "now"]),
    )
    def agent_hangs_up(self, rare: int, ahead: int, transfer: bool, when: str) -> None:
        if rare:
            return
        turn = self.scene.turn + ahead
        order = (
            Transfer(CALL, turn, "desk", when)  # type: ignore[arg-type]
            if transfer
            else HangUp(CALL, turn, when)  # type: ignore[arg-type]
        )
        self.scene.do(order)

    @rule(rare=st.integers(0, 15))
    def caller_leaves(self, rare: int) -> None:
        if not rare:
            self.scene.do(CallerGone("caller"))

    # ---------------------------------------------------------------- stale and hostile

    @rule(say=ANY_INT, which=st.sampled_from([SayReady, SayFailed]))
    def a_stray_report(self, say: int, which: Callable[..., FloorEvent]) -> None:
        scene = self.scene
        known = say in scene.player.allowed
        scene.do(which(say, "tts") if which is SayFailed else which(say))
        if which is SayFailed and known:
            scene.player.allowed.remove(say)

    @rule(say=st.integers(1000, 1100), which=st.sampled_from([SayStarted, SayFinished]))
    def a_report_of_a_line_never_said(self, say: int, which: Callable[[int], FloorEvent]) -> None:
        assert self.scene.do(which(say)) == [] or self.scene.floor.closed is False

    @rule(key=TIMERS, stamp=st.integers(-1, 3))
    def a_stray_timer(self, key: str, stamp: int) -> None:
        scene = self.scene
        if scene.live_stamp(key) != stamp:
            assert scene.do(TimerFired(key, stamp)) == []

    @rule(onset=st.integers(-5000, 5000), which=st.integers(0, 2))
    def stray_voice(self, onset: int, which: int) -> None:
        event: FloorEvent
        match which:
            case 0:
                event = VoiceConfirmed(self.onset - abs(onset) - 1)
            case 1:
                event = VoiceEnded(self.onset - abs(onset) - 1, onset, onset, True)
            case _:
                event = VoiceStarted(self.onset - abs(onset) - 1)
        self.scene.do(event)

    @rule(text=TEXTS, start=ANY_INT, end=ANY_INT)
    def stray_words(self, text: str, start: int, end: int) -> None:
        self.scene.do(Transcribed(text, True, start, end, -5, float("nan")))

    # ---------------------------------------------------------------- invariants

    @invariant()
    def a_closed_gate_has_an_end(self) -> None:
        floor = self.scene.floor
        if self.ready and floor.gate_closed and not floor.closed:
            assert self.timers() or floor.caller_speaking, "held for ever"

    @invariant()
    def the_gate_is_what_was_ordered(self) -> None:
        floor = self.scene.floor
        if not floor.closed:
            assert floor.gate_closed == self.scene.checker.held

    @invariant()
    def nothing_follows_the_end_of_the_call(self) -> None:
        assert len(self.scene.ended()) <= 1

    @invariant()
    def an_idle_call_is_never_stuck(self) -> None:
        """Words that count end in a turn: a timer is armed, or a line must end first."""
        scene = self.scene
        floor = scene.floor
        if floor.closed or floor.running_turn is not None or not self.ready:
            return
        if scene.settings.silence_timeout_ms and floor.state is State.LISTENING:
            busy = floor.caller_speaking or scene.player.allowed
            assert self.timers() or busy or floor.silence_off

    def timers(self) -> set[str]:
        """Those that can end what is going on now; a call's expiry is hours away."""
        return set(self.scene.floor.armed_timers) - {"expiry"}


FloorMachine.TestCase.settings = hypothesis_settings(
    max_examples=150, stateful_step_count=60, deadline=None, derandomize=True
)
TestFloorMachine = FloorMachine.TestCase


def test_armed_timers_and_live_stamps_agree() -> None:
    scene = Scene()
    scene.greeted()
    armed = [a for _, a in scene.log if isinstance(a, ArmTimer) and a.key == "silence"]
    assert scene.live_stamp("silence") == armed[-1].stamp
