"""The ledger against a simulated far end: never more than was played, hardly less."""

from dataclasses import dataclass, field

from hypothesis import assume, given
from hypothesis import strategies as st

from voice.speaking.playback import GIVE_UP_MS, Ledger
from voice.speaking.playback_text import Script, ScriptChunk
from voice.speaking.ports import WordTime
from voice.speaking.wording import say_as

LEAD = 200


@dataclass
class Player:
    """A far end in plain arithmetic: what it got, when it played it, when its marks come back."""

    out_ms: float
    in_ms: float
    buffer_ms: float = 0.0
    stall_at: float = -1.0
    stall_ms: float = 0.0
    end: float = 0.0
    arrived: float = 0.0
    frames: list[tuple[float, int, int]] = field(default_factory=list)
    """Begin of play, say, content."""
    marks: list[tuple[float, str]] = field(default_factory=list)
    """When it comes back, name."""

    def got(self, now: float, jitter: float, say: int, content: int) -> None:
        self.arrived = max(self.arrived, now + self.out_ms + jitter)
        fresh = self.arrived > self.end
        start = self.arrived + self.buffer_ms if fresh else self.end
        if self.stall_at <= start < self.stall_at + self.stall_ms:
            start = self.stall_at + self.stall_ms
        self.frames.append((start, say, content))
        self.end = start + 20

    def mark(self, name: str, jitter: float) -> None:
        self.marks.append((self.end + self.in_ms + jitter, name))

    def played(self, say: int, until: float) -> int:
        """Ms of a say's content played, from its start, until the far end's own time."""
        best = 0
        for start, whose, content in self.frames:
            if whose == say and start < until:
                best = max(best, content + min(20, int(until - start)))
        return best


def script_of(lengths: list[int]) -> Script:
    """A say of so many words of those lengths, with word times."""
    text = " ".join("word" for _ in lengths)
    script = Script()
    script.add_text(text)
    script.add_chunk(ScriptChunk(0, say_as(text)))
    words: list[WordTime] = []
    at = 0
    for index, length in enumerate(lengths):
        at += length
        words.append(WordTime(index * 5, index * 5 + 4, at))
    script.add_sound(0, float(at), tuple(words), last=True)
    script.ended = True
    script.add_tail(0.0)
    return script


def words_heard(script: Script, ms: int) -> int:
    return len(script.written[: script.heard_chars(ms)].split())


def play(
    ledger: Ledger, player: Player, total: int, until: float, jitters: list[int], marks: bool
) -> None:
    """Feed one say from time 0 on, tick by tick, with the marks that come back meanwhile."""
    content = 0
    count = 0
    now = 0.0
    while now <= until:
        for due, name in sorted(player.marks):
            if due <= now:
                player.marks.remove((due, name))
                ledger.mark_reached(name, due)
        if not ledger.is_stalled(now):
            while content < total and max(ledger.ahead_ms(now), 0) + 20 <= LEAD:
                jitter = jitters[count % len(jitters)]
                count += 1
                player.got(now, jitter, 1, content)
                ledger.send(now, 1, content, 20)
                content += 20
                if ledger.mark_due() or content >= total:
                    name = ledger.mark()
                    if marks:
                        player.mark(name, jitter)
        now += 20


WORDS = st.lists(st.integers(170, 600), min_size=4, max_size=14)


@given(
    WORDS,
    st.floats(0, 100),
    st.floats(0, 100),
    st.floats(0, 60),
    st.lists(st.integers(0, 15), min_size=1, max_size=7),
    st.integers(0, 4000),
    st.booleans(),
)
def test_heard_text_is_never_more_than_was_played_and_at_most_a_word_less(
    lengths: list[int],
    out_ms: float,
    in_ms: float,
    buffer_ms: float,
    jitters: list[int],
    cut: int,
    marks: bool,
) -> None:
    """B01, B03: whatever the line costs each way, with marks or without."""
    script = script_of(lengths)
    total = int(script.sound_ms)
    ledger, player = Ledger(), Player(out_ms, in_ms, buffer_ms)
    play(ledger, player, total, cut, jitters, marks)
    heard = min(total, ledger.content_heard_ms(1, cut))
    ledger.clear(cut)
    assert min(total, ledger.content_heard_ms(1, cut + 500)) == heard
    played = min(total, player.played(1, cut + out_ms + min(jitters)))
    assert heard <= played
    assert words_heard(script, played) - 1 <= words_heard(script, heard)
    assert words_heard(script, heard) <= words_heard(script, played)


@given(
    WORDS,
    st.floats(0, 100),
    st.floats(0, 100),
    st.integers(300, 900),
    st.integers(600, 2500),
    st.integers(0, 4500),
)
def test_a_far_end_that_stalled_is_not_credited_with_what_it_owes(
    lengths: list[int], out_ms: float, in_ms: float, stall: int, at: int, cut: int
) -> None:
    """H05, B03: while it stalls at most a mark's distance too much, after its next mark nothing."""
    script = script_of(lengths * 2)
    total = int(script.sound_ms)
    ledger, player = Ledger(), Player(out_ms, in_ms, stall_at=at, stall_ms=stall)
    play(ledger, player, total, cut, [0], True)
    heard = ledger.content_heard_ms(1, cut)
    played = player.played(1, cut + out_ms)
    assert heard <= played + 200
    if cut > at + stall + 200 + out_ms + in_ms:
        assert heard <= played


@given(
    WORDS,
    st.floats(0, 150),
    st.floats(0, 150),
    st.integers(700, 4000),
)
def test_what_was_heard_at_the_callers_onset_is_what_played_when_they_made_the_sound(
    lengths: list[int], out_ms: float, in_ms: float, onset: int
) -> None:
    """M02 rests on this: the whole round trip is taken off."""
    script = script_of(lengths)
    total = int(script.sound_ms)
    ledger, player = Ledger(), Player(out_ms, in_ms)
    play(ledger, player, total, onset + 600, [0], True)
    truth = min(total, player.played(1, onset - in_ms))
    assume(truth > 0)
    assert abs(ledger.heard_at(onset).get(1, 0) - truth) <= 41


def sent(ledger: Ledger, now: float, ms: int, say: int = 1, content: int = 0) -> None:
    for step in range(0, ms, 20):
        ledger.send(now, say, content + step, 20)


def test_wrong_marks_are_ignored_and_counted_and_the_position_stays() -> None:
    """A04"""
    ledger = Ledger()
    sent(ledger, 0, 200)
    first = ledger.mark()
    sent(ledger, 0, 200, content=200)
    second = ledger.mark()
    before = ledger.heard_ms(150)
    for name in ("t9c7", "", "0.3", "7.1", "0.²", "-1.1", "0.1.1", "x" * 99, "0." + "9" * 40):
        assert not ledger.mark_reached(name, 150)
    assert ledger.heard_ms(150) == before
    assert ledger.ignored == {"unknown": 8, "empty": 1}
    assert ledger.mark_reached(second, 450)
    assert not ledger.mark_reached(first, 455)
    assert not ledger.mark_reached(second, 460)
    assert ledger.ignored == {"unknown": 8, "empty": 1, "out_of_order": 1, "repeated": 1}
    assert ledger.heard_ms(460) == 400


def test_a_mark_that_comes_before_its_sound_can_have_played_is_not_believed() -> None:
    """B03, H13: hostile or broken far ends do not make history."""
    ledger = Ledger()
    sent(ledger, 0, 200)
    name = ledger.mark()
    assert not ledger.mark_reached(name, 100)
    assert ledger.ignored == {"early": 1}
    assert ledger.heard_ms(100) <= 100
    assert ledger.mark_reached(name, 230)


def test_marks_of_an_older_epoch_are_stale() -> None:
    """A04"""
    ledger = Ledger()
    sent(ledger, 0, 400)
    name = ledger.mark()
    ledger.clear(100)
    assert not ledger.mark_reached(name, 120)
    assert ledger.ignored == {"stale": 1}
    assert ledger.epoch == 1
    sent(ledger, 200, 200, say=2)
    assert not ledger.mark_reached(name, 700)
    assert ledger.heard_ms(200) == 400


def test_marks_are_due_every_200_ms_and_at_once_while_no_round_trip_is_known() -> None:
    ledger = Ledger()
    due: list[int] = []
    for step in range(0, 1000, 20):
        ledger.send(0, 1, step, 20)
        if ledger.mark_due():
            due.append(step + 20)
            assert len(ledger.mark()) <= 24
    assert due == [20, 220, 420, 620, 820]


def test_names_stay_short_for_ever() -> None:
    ledger = Ledger()
    ledger.epoch = 10**11
    ledger.send(0, 1, 0, 20)
    ledger._sequence = 10**15
    assert len(ledger.mark()) <= 24


def test_heard_at_a_clear_is_capped_at_what_was_sent() -> None:
    """B03"""
    ledger = Ledger()
    sent(ledger, 0, 200)
    assert ledger.heard_ms(5000) == 200
    ledger.clear(5000)
    assert ledger.content_heard_ms(1, 5000) == 200


def test_the_resent_part_of_a_say_counts_once() -> None:
    """B06: after a hold the sent sound is no prefix of the say."""
    ledger = Ledger()
    sent(ledger, 0, 1000)
    ledger.clear(680)
    assert ledger.content_heard_ms(1, 700) == 600
    sent(ledger, 1000, 400, content=500)
    assert ledger.content_heard_ms(1, 1000) == 600
    assert ledger.content_heard_ms(1, 1280) == 700
    assert ledger.heard_at(700 + 20) == {1: 600}
    assert ledger.heard_at(1000) == {1: 600}
    assert ledger.heard_at(1120 + 300) == {1: 800}


def test_a_stall_stops_feeding_until_a_mark_comes_and_patience_ends() -> None:
    """H05, L11"""
    ledger = Ledger()
    sent(ledger, 0, 20)
    ledger.mark_reached(ledger.mark(), 60)
    sent(ledger, 20, 400, content=20)
    name = ledger.mark()
    assert not ledger.is_stalled(1300)
    assert ledger.is_stalled(1500)
    assert ledger.overdue_ms(1500) > 1000
    assert ledger.mark_reached(name, 1600)
    assert not ledger.is_stalled(1700)
    sent(ledger, 1700, 400, content=420)
    ledger.mark()
    assert ledger.is_stalled(4000)
    ledger.clear(8000)
    assert not ledger.is_stalled(8100)
    sent(ledger, 9000, 400, say=2)
    ledger.mark()
    assert ledger.is_stalled(11000)
    assert not ledger.is_stalled(9000 + GIVE_UP_MS)
    assert ledger.ignored["no_marks"] == 1
    assert ledger.heard_ms(9000 + GIVE_UP_MS) == ledger.sent_ms


def test_what_sounds_now_is_known_for_the_echo_gate() -> None:
    ledger = Ledger()
    assert ledger.sounding_at(0) is None
    sent(ledger, 100, 200, say=3, content=40)
    assert ledger.sounding_at(150) == (3, 90)
    assert ledger.sounding_at(99) is None
    assert ledger.sounding_at(300) is None


def test_hours_of_calls_keep_little() -> None:
    """N06: runs, stretches and marks are bounded."""
    ledger = Ledger()
    for turn in range(3000):
        now = turn * 1000.0
        sent(ledger, now, 200, say=turn)
        ledger.mark()
        ledger.prune(now)
    assert len(ledger._runs) < 5
    assert len(ledger._stretches) <= 512
    assert len(ledger._pending) <= 256
