"""When the caller's turn ends: the curve's timer, or the engine's own end of turn.

Owns the arming of the end and what happens when it comes. The curve itself is ``endpoint``.
"""

from typing import Final

from voice.floor.events import SpeakerFinished, SpeakerResumed
from voice.floor.parts import Parts
from voice.floor.taking import Taking

_WORDLESS_VOICE_MS: Final = 6000
"""Voice that goes on so long after the last new word (babble) doesn't keep the turn open."""

_EAGER_AGAIN_MS: Final = 500
"""An eager end with voice after it: how long to wait for the engine's word on it."""


class Ending:
    """The end of the caller's turn."""

    __slots__ = ("_p", "_take")

    def __init__(self, parts: Parts, taking: Taking) -> None:
        self._p = parts
        self._take = taking

    def schedule(self) -> None:
        """Arm the end of the turn as voice and words are now; voice voids it."""
        p = self._p
        caller, utterance = p.caller, p.caller.utterance
        turn = p.turns.running
        if turn is not None and not turn.certain:
            return
        if not utterance.counts or utterance.complete or not utterance.has_words:
            p.step.disarm("endpoint")
            return
        if caller.speaking:
            since = max(utterance.changed_ms, caller.last_onset_ms or 0)
            p.step.arm("endpoint", since + _WORDLESS_VOICE_MS)
            return
        timing = p.settings.turn_taking
        end = min(caller.end_ms, p.step.now)
        due = end + p.end_delay_ms(utterance.text)
        patience = p.settings.interruptions.stt_wait_ms
        if p.stt_ends_turns and not p.stt_down:
            due = max(due, end + timing.collecting_max_ms + patience)
        elif not p.stt_down and (utterance.partial is not None or not caller.is_answered):
            due = max(due, end + timing.decode_silence_ms + patience)
        p.step.arm("endpoint", due)

    def due(self) -> None:
        """The silence was long enough."""
        p = self._p
        turn = p.turns.running
        if turn is not None and not turn.certain:
            if p.caller.speaking:
                p.step.arm("endpoint", p.step.now + _EAGER_AGAIN_MS)
            else:
                self._take.confirm()
            return
        utterance = p.caller.utterance
        utterance.complete = True
        if p.caller.stretch is not None:
            p.caller.stretch.distrusted = True

    def speaker_finished(self, event: SpeakerFinished) -> None:
        """The engine's own end of turn, eager or sure."""
        p = self._p
        caller, utterance = p.caller, p.caller.utterance
        p.stt_ends_turns = True
        turn = p.turns.running
        if turn is not None and not turn.certain:
            if event.certain:
                self._take.confirm()
            else:
                p.step.refuse("SpeakerFinished")
            return
        if event.audio_end_ms <= caller.covered_ms:
            p.step.refuse("SpeakerFinished")
        elif not utterance.counts:
            caller.answered_ms = max(caller.answered_ms, event.audio_end_ms)
            if not caller.speaking and caller.is_answered:
                p.gate.answered()
        elif event.certain:
            self.due()
        elif turn is None and p.ready and not p.pacing.lines:
            self._take.start_spoken(certain=False)
            p.step.arm("endpoint", p.step.now + p.settings.turn_taking.collecting_max_ms)

    def speaker_resumed(self, event: SpeakerResumed) -> None:
        """The eager end was wrong."""
        turn = self._p.turns.running
        if turn is None or turn.certain:
            self._p.step.refuse("SpeakerResumed")
            return
        self._take.retract("speaker_resumed")
        self.schedule()
