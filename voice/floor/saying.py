"""The agent's side: its lines as they come, are heard or fail, and what fills the waits between.

Owns the way of a say from the runtime to the queue, the voice plane's own lines (fillers,
apologies) and the moment at which a line, a filler or a check-in may come. Rhythm is ``pacing``'s,
the clocks are ``fillers``' and ``silence``'s.
"""

from typing import Final, Literal

from runtime.agent import Say, SayEnd, SayText
from voice.floor.actions import DropSay
from voice.floor.events import SayFailed, SayFinished, SayReady, SayStarted
from voice.floor.pacing import Line, Stage
from voice.floor.parts import Parts
from voice.floor.taking import Taking
from voice.floor.turns import State

_APOLOGY_EVERY_MS: Final = 10_000


class Saying:
    """What the agent says, and when it may."""

    __slots__ = ("_apologized_ms", "_own_says", "_p", "_take")

    def __init__(self, parts: Parts, taking: Taking) -> None:
        self._p = parts
        self._take = taking
        self._own_says = 0
        self._apologized_ms: int | None = None

    def say(self, event: Say) -> None:
        """Queue a line of the running turn; one of any other turn is dropped."""
        p = self._p
        turn = p.turns.of(event.turn)
        if event.say <= 0 or (turn is not None and event.say in turn.says):
            p.step.refuse("Say")
            return
        if turn is None or turn.ended:
            p.step.refuse("Say")
            p.step.emit(DropSay(event.say))
            return
        turn.says.add(event.say)
        filler = p.pacing.head
        if filler is not None and filler.kind == "filler" and not filler.ready:
            p.pacing.remove(filler)  # not a sound of it exists, and the answer is on its way
            p.step.emit(DropSay(filler.say))
        if event.kind == "beside_tool":
            p.fillers.model_spoke()
        p.pacing.add(Line(event.say, event.kind, event.interruptible))

    def say_text(self, event: SayText) -> bool:
        """Take the next piece of a line; True if it is the first, so that the line may begin."""
        p = self._p
        line = p.pacing.find(event.say)
        if line is None or p.turns.of(event.turn) is None:
            p.step.refuse("SayText")
            return False
        first = not line.begun
        line.add(event.text)
        if line.stage is Stage.HEARD:
            p.spoken.more(line.say, event.text)
        return first

    def say_end(self, event: SayEnd) -> None:
        """The text of a line is complete, and what it asks for is known."""
        p = self._p
        line = p.pacing.find(event.say)
        if line is None or p.turns.of(event.turn) is None:
            p.step.refuse("SayEnd")
        else:
            line.expect = event.expect

    def playback(self, event: SayReady | SayStarted | SayFinished | SayFailed) -> None:
        """Follow a line from its first sound to its end."""
        p = self._p
        line = p.pacing.find(event.say)
        if line is None:
            p.step.refuse(type(event).__name__)
            return
        match event:
            case SayReady():
                line.ready = True
            case SayStarted():
                self._started(line)
            case SayFinished():
                self._started(line)
                p.spoken.ended(line.say, p.step.now)
                p.pacing.finished(line, p.step.now)
                p.fillers.sound_ended()
            case SayFailed():
                p.spoken.ended(line.say, p.step.now)
                p.pacing.remove(line)
                if not line.own:
                    self._apologize("reply_failed")

    def _started(self, line: Line) -> None:
        p = self._p
        if line.stage is not Stage.ALLOWED:
            return
        line.stage = Stage.HEARD
        p.spoken.started(line.say, line.pieces, p.step.now)
        turn = p.turns.running
        if turn is not None:
            if not turn.heard and not line.own:
                p.answered_after(p.step.now - turn.started_ms)
            turn.heard = True

    def speak_filler(self, reason: str) -> None:
        """Queue the next filler of this turn."""
        p = self._p
        turn = p.turns.running
        if turn is None:
            return
        phrase = p.fillers.speak(turn.tools)
        if phrase:
            p.step.record("filler", reason, phrase, turn=turn.number)
            self._own_line("filler", phrase)

    def _own_line(self, kind: Literal["filler", "apology"], text: str) -> None:
        self._own_says -= 1
        line = Line(self._own_says, kind)
        line.add(text)
        self._p.pacing.add(line, first=True)

    def _apologize(self, reason: str, *, always: bool = False) -> None:
        step = self._p.step
        last = self._apologized_ms
        apology = self._p.settings.apology
        step.record("problem", reason)
        if not apology or not (always or last is None or step.now - last >= _APOLOGY_EVERY_MS):
            return
        self._apologized_ms = step.now
        self._own_line("apology", apology)

    def agent_lost(self) -> None:
        """The agent process is gone, and its running turn with it: say sorry."""
        p = self._p
        p.asked = False
        turn = p.turns.running
        if turn is None:
            return
        if not turn.certain:
            self._take.retract("agent_lost")  # nothing was promised yet: the words wait
            return
        self._take.flush("agent_lost")
        p.turns.cut_running()
        p.fillers.turn_over()
        p.hang_up = None
        p.gate.committed()
        p.step.record("interrupted", "agent_lost", turn=turn.number)
        if not p.caller.utterance.counts:
            self._apologize("agent_lost", always=True)

    def update_waits(self) -> None:
        """Let a line begin if one may, and run or stand the clocks of fillers and silence."""
        p = self._p
        turn = p.turns.running
        standing = p.pacing.about_to_speak or p.caller_has_floor
        waits = p.agent_waits
        if p.pacing.about_to_speak:
            p.wants_filler = False
        if p.wants_filler and not standing:
            p.wants_filler = False
            if waits and not p.fillers.spent:
                self.speak_filler("presence")
                standing = True
        if p.unheard:
            p.unheard = False
            if turn is None and p.state is State.LISTENING:
                self._apologize("not_transcribed")
        p.pacing.pump(p.may_play)
        tools = turn.tools if turn is not None else ()
        p.fillers.update(waiting=waits, standing=standing, tools=tools)
        stretch = p.caller.stretch
        voice = stretch is not None and stretch.running and not stretch.distrusted
        p.silence.update(
            listening=p.ready and p.state is State.LISTENING and p.pacing.empty,
            quiet=not (voice or p.caller.utterance.counts or p.keys.collecting),
            undecided=p.gate.closed,
        )
