"""The caller's voice: what is held for it, and when that is given up again.

Owns the path from voice to the gate, and the timers that belong to it. The gate's stages and limits
are ``gate``'s; words are ``listening``'s.
"""

from typing import Final

from voice.floor.actions import DecodeNow, DropTranscript
from voice.floor.caller import Stretch
from voice.floor.ending import Ending
from voice.floor.events import FramesStopped, VoiceConfirmed, VoiceEnded, VoiceStarted
from voice.floor.parts import Parts
from voice.floor.taking import Taking
from voice.floor.turns import State

_WORTH_AN_APOLOGY_MS: Final = 400
"""Speech that no STT answers for, and too long for a cough."""
_WORTH_DECODING_MS: Final = 120
"""Voice that was never confirmed but lasted so long may be a soft word, if nobody else speaks."""


class Holding:
    """What the caller's voice does to the gate."""

    __slots__ = ("_ending", "_p", "_take")

    def __init__(self, parts: Parts, taking: Taking, ending: Ending) -> None:
        self._p = parts
        self._take = taking
        self._ending = ending

    def voice_started(self, event: VoiceStarted) -> None:
        """Hold provisionally."""
        p = self._p
        onset = min(event.onset_ms, p.step.now)
        caller = p.caller
        newest = caller.last_onset_ms
        if newest is not None and onset <= newest:
            p.step.refuse("VoiceStarted")
            return
        utterance = caller.utterance
        if not p.gate.closed and utterance.has_words and not utterance.counts:
            self.drop_candidates("no_answer")
        stretch = caller.voice_started(onset)
        p.step.disarm("decode")
        self._hold(stretch)
        p.step.arm("confirm", p.step.now + p.settings.interruptions.confirm_ms)
        self._ending.schedule()

    def voice_confirmed(self, event: VoiceConfirmed) -> None:
        """The hold is for speech; without a provisional one it begins here."""
        p = self._p
        caller = p.caller
        stretch = caller.stretch
        if stretch is None or stretch.onset_ms != min(event.onset_ms, p.step.now):
            newest = caller.last_onset_ms
            if newest is not None and event.onset_ms <= newest:
                p.step.refuse("VoiceConfirmed")
                return
            stretch = caller.voice_started(min(event.onset_ms, p.step.now))
            p.step.disarm("decode")
        if stretch.confirmed:
            p.step.refuse("VoiceConfirmed")
            return
        stretch.confirmed = True
        stretch.doubted = False
        p.step.disarm("confirm")
        if caller.utterance.counts and caller.last_voiced_ms is not None:
            p.pauses.learn(stretch.onset_ms - caller.last_voiced_ms)
        self._hold(stretch)
        if p.stt_down:
            self._arm_voice_commit(stretch)
        self._ending.schedule()

    def voice_ended(self, event: VoiceEnded) -> None:
        """Ask for the words; wait for them with the gate as it is."""
        p = self._p
        caller = p.caller
        stretch = caller.stretch
        if stretch is None or stretch.onset_ms != event.onset_ms:
            p.step.refuse("VoiceEnded")
            return
        if event.confirmed and not stretch.confirmed:
            self.voice_confirmed(VoiceConfirmed(event.onset_ms))
        last = max(stretch.onset_ms, min(event.last_voiced_ms, p.step.now))
        was_answered = caller.is_answered
        caller.voice_ended(last)
        p.step.disarm("confirm")
        p.step.disarm("voice_commit")
        if stretch.confirmed:
            p.gate.voice_ended(last, answered=caller.is_answered, stt_down=p.stt_down)
        else:
            p.gate.not_confirmed()
        soft_word = p.state is State.LISTENING and event.voiced_ms >= _WORTH_DECODING_MS
        # A sound that was no speech may have kept the STT from answering for the speech before.
        owed = p.gate.closed and not was_answered
        if stretch.confirmed or soft_word or owed or caller.utterance.counts:
            p.step.arm("decode", last + p.settings.turn_taking.decode_silence_ms)
        elif not caller.utterance.has_words:
            p.step.emit(DropTranscript(last))
        self._ending.schedule()

    def frames_stopped(self, event: FramesStopped) -> None:
        """No sound arrives: whatever the caller was saying has ended."""
        stretch = self._p.caller.stretch
        if stretch is not None:
            voiced = max(0, event.at_ms - stretch.onset_ms)
            self.voice_ended(VoiceEnded(stretch.onset_ms, event.at_ms, voiced, stretch.confirmed))

    def hold_for_speech(self) -> None:
        """Close the gate for speech that began while it had to stay open."""
        stretch = self._p.caller.stretch
        if stretch is not None and stretch.takes_floor:
            self._hold(stretch)

    def _hold(self, stretch: Stretch) -> None:
        p = self._p
        state = p.state
        line = p.line
        if state is State.PROTECTED and (line is not None or not p.settings.interruptions.enabled):
            return
        runs = state is not State.LISTENING
        if not p.gate.may_hold(line, turn_runs=runs):
            stretch.distrusted = True
        if stretch.distrusted:
            return
        voice_ms = p.step.now - stretch.onset_ms
        if stretch.confirmed:
            p.gate.voice_confirmed(voice_ms, line, turn_runs=runs)
        else:
            p.gate.voice_started(voice_ms, line, turn_runs=runs)

    def nothing_counts(self) -> None:
        """The STT has spoken and it changes nothing: let the gate open when the voice is over."""
        p = self._p
        if p.caller.speaking:
            return
        if not p.gate.closed:
            self.drop_candidates("backchannel")
        elif p.caller.is_answered:
            p.gate.answered()

    def drop_candidates(self, reason: str) -> str | None:
        """Forget words that did not count, visibly; return them."""
        p = self._p
        caller = p.caller
        text = caller.utterance.new_text or None
        if text is not None:
            p.step.record("suppressed", reason, text)
        end = min(caller.done_ms, p.step.now)
        answered = caller.is_answered
        caller.use_up(end)
        if not answered:
            # What the STT has answered for it may still need, to hear "yeah, let's do that" whole.
            p.step.emit(DropTranscript(end))
        return text

    # ------------------------------------------------------------------ STT up and down

    def transcriber_failed(self) -> None:
        """Voice alone decides from now on."""
        p = self._p
        p.stt_down = True
        p.gate.answered()
        stretch = p.caller.stretch
        if stretch is not None and stretch.confirmed:
            self._arm_voice_commit(stretch)
        self._ending.schedule()

    def transcriber_back(self) -> None:
        """Words decide again."""
        self._p.stt_down = False
        self._p.step.disarm("voice_commit")
        self._ending.schedule()

    def _arm_voice_commit(self, stretch: Stretch) -> None:
        p = self._p
        p.step.arm("voice_commit", stretch.onset_ms + p.settings.interruptions.voice_commit_ms)

    # ------------------------------------------------------------------ timers

    def confirm_due(self) -> None:
        """The sure detector has not agreed in time."""
        stretch = self._p.caller.stretch
        if stretch is not None and not stretch.confirmed:
            stretch.doubted = True
            self._p.gate.not_confirmed()
            self._ending.schedule()

    def release_due(self) -> None:
        """The wait for words is over; a new sound may be prolonging it."""
        p = self._p
        if p.caller.speaking or not p.gate.release_is_due():
            return
        answered = p.caller.is_answered
        text = None
        if answered:
            text = self.drop_candidates("backchannel")
        reason = "backchannel" if text else "no_words" if answered else "no_answer"
        lasted = (p.caller.last_voiced_ms or 0) - (p.caller.last_onset_ms or 0)
        p.unheard = reason == "no_answer" and lasted >= _WORTH_AN_APOLOGY_MS
        p.gate.release(reason, text)

    def limit_due(self) -> None:
        """The hold has lasted as long as it may without words."""
        p = self._p
        stretch = p.caller.stretch
        if p.gate.limit_reached(voice_runs=p.caller.speaking) and stretch is not None:
            stretch.distrusted = True

    def voice_commit_due(self) -> None:
        """No STT answers and the caller goes on speaking."""
        p = self._p
        stretch = p.caller.stretch
        if stretch is None or not stretch.confirmed or not p.stt_down:
            return
        if p.state in (State.AUDIBLE, State.WORKING):
            stretch.distrusted = False
            self._take.commit("voice", "voice")
            p.gate.voice_confirmed(p.step.now - stretch.onset_ms, None, turn_runs=False)

    def decode_due(self) -> None:
        """Silence so far: have the words ready before the turn may end."""
        p = self._p
        caller = p.caller
        if not caller.speaking and not p.stt_down and not caller.is_answered:
            p.step.emit(DecodeNow(caller.last_voiced_ms or p.step.now))
