"""The caller's words: each transcript is judged once and acted on by the table.

Owns the path from a transcript to a decision. What words are is ``words``' and ``echo``'s, the
table is ``turns``', the orders are ``taking``'s; voice without words is ``holding``'s, the end of a
turn ``ending``'s.
"""

from voice.floor.ending import Ending
from voice.floor.events import Transcribed
from voice.floor.holding import Holding
from voice.floor.parts import Parts
from voice.floor.taking import Taking
from voice.floor.turns import Decision, State, decide, sound_of
from voice.floor.words import Judgement, Kind, believable_turn, tokens_of


class Listening:
    """What the caller's words do to the floor."""

    __slots__ = ("_ending", "_holding", "_p", "_take")

    def __init__(self, parts: Parts, taking: Taking, holding: Holding, ending: Ending) -> None:
        self._p = parts
        self._take = taking
        self._holding = holding
        self._ending = ending

    def transcribed(self, heard: Transcribed) -> None:
        """Judge a transcript once, and act on it by the table."""
        p = self._p
        caller = p.caller
        if caller.is_overtaken(heard) or (heard.final and caller.is_repeated(heard)):
            p.step.refuse("Transcribed")
            return
        if heard.final:
            caller.answered(heard)
        judged = p.lexicon.judge(heard, strong=p.strong)
        if judged.kind is not Kind.NOISE:
            if caller.is_late(heard):
                self._late(heard, judged)
                return
            judged = self._without_echo(heard, judged)
        turn = p.turns.running
        if turn is not None and not turn.certain and judged.kind is not Kind.NOISE:
            self._take.retract("more_words")
        if judged.kind is Kind.NOISE:
            self._no_words(heard, judged)
        elif caller.utterance.counts:
            caller.collect(heard, p.step.now)
        else:
            self._candidate(heard, judged)
        if judged.kind is Kind.WORDS and not p.strong and caller.utterance.counts:
            # a small engine may find no words in the end where it was sure of some on the way
            caller.utterance.committed = True
        self._ending.schedule()

    def _without_echo(self, heard: Transcribed, judged: Judgement) -> Judgement:
        spoken = self._p.spoken
        start = heard.words[0].start_ms if heard.words else heard.audio_start_ms
        sure = judged.reason == "interrupt_word"
        if spoken.is_echo(judged.tokens, start, heard.audio_end_ms) or (
            not sure and spoken.begins_a_line(judged.tokens, start)
        ):
            return Judgement(Kind.NOISE, "echo", judged.tokens)
        if (
            not heard.final
            and judged.kind is Kind.WORDS
            and not sure
            and spoken.may_become_echo(judged.tokens, start, heard.audio_end_ms)
        ):
            return Judgement(Kind.UNSURE, "may_become_echo", judged.tokens)
        return judged

    def _no_words(self, heard: Transcribed, judged: Judgement) -> None:
        p = self._p
        utterance = p.caller.utterance
        if not heard.final:
            return
        if judged.tokens:
            p.step.record("suppressed", judged.reason, heard.text)
        utterance.nothing_said()
        if utterance.counts and not utterance.has_words:
            utterance.counts = utterance.kept = False
            p.gate.give()
        if not utterance.counts:
            self._holding.nothing_counts()

    def _candidate(self, heard: Transcribed, judged: Judgement) -> None:
        p = self._p
        utterance = p.caller.utterance
        state = p.state
        if state is State.LISTENING:
            self._open_turn(heard, judged)
            return
        p.caller.collect(heard, p.step.now)
        if judged.kind is Kind.PRESENCE and p.over_filler:
            state = State.WORKING  # the filler is the answer to "are you there?"
        decision = decide(state, sound_of(judged.kind, state, asked=p.asking_yes_no))
        match decision:
            case Decision.REOPEN | Decision.INTERRUPT:
                self._take.commit("words", judged.reason)
            case Decision.KEEP:
                utterance.counts = utterance.kept = True
                if p.gate.closed or (p.line is None and p.settings.interruptions.enabled):
                    p.gate.take()
            case Decision.NEXT_FILLER if heard.final:
                p.wants_filler = True
                self._holding.nothing_counts()
            case _ if heard.final:
                self._holding.nothing_counts()
            case _:
                pass  # never on a partial: a backchannel may be the beginning of more

    def _open_turn(self, heard: Transcribed, judged: Judgement) -> None:
        p = self._p
        keys = p.listen.keys
        if p.keys.collecting or (keys is not None and not keys.speech_too):
            reason = "keys_only"
        elif not believable_turn(heard, judged, strong=p.strong):
            reason = "low_confidence"
        else:
            utterance = p.caller.utterance
            p.caller.collect(heard, p.step.now)
            utterance.counts = True
            self._take.flush("words")  # lines of our own that were not said yet
            p.gate.take()
            return
        if heard.final:
            p.step.record("suppressed", reason, heard.text)
            self._holding.nothing_counts()

    def _late(self, heard: Transcribed, judged: Judgement) -> None:
        """Words of audio that is used up: they belong to the turn they were spoken in."""
        p = self._p
        if not heard.final:
            return
        turn = p.turns.running
        given = turn.input if turn is not None else None
        utterance = p.caller.utterance
        if turn is not None and given is not None and given.kind == "speech":
            had = tokens_of(given.text)
            new = judged.tokens
            if any(had[at : at + len(new)] == new for at in range(len(had))):
                return  # the final of words that were already taken from a partial
            if (p.state is State.THINKING or not turn.certain) and not utterance.has_words:
                if turn.certain:
                    self._take.reopen("late_words")
                else:
                    self._take.retract("late_words")
                p.caller.collect(heard, p.step.now)
                if new[: len(had)] == had:
                    utterance.base = None
                    utterance.onset_ms = given.onset_ms
                p.gate.take()
                self._ending.schedule()
                return
        p.step.record("suppressed", "late_words", heard.text)
