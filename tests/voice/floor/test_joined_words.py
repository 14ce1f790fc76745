"""Words that a recognizer hears again, together with what followed."""

from tests.voice.floor.scene import Scene, final, partial
from voice.floor.actions import DecodeNow, DropTranscript, ReleaseOutput
from voice.floor.events import VoiceEnded, VoiceStarted

LINE = "Our house has many rooms and I will now tell you about each of them."


def talking(*, strong: bool = True) -> Scene:
    scene = Scene(strong=strong)
    scene.reply(LINE, ms=30_000)
    return scene.until(2000)


def test_a_final_that_covers_an_earlier_one_replaces_it() -> None:
    """ "Yeah" and then "Yeah, let's do that" is one sentence, said once."""
    scene = Scene().greeted()
    scene.voice(5000, 5300)
    scene.at(5540, final("Yeah.", 5000, 5300, segment=1))
    scene.voice(5660, 6400)
    scene.at(6640, final("Yeah, let's do that.", 5000, 6400, segment=2))
    scene.until(9000)
    assert [start.input.text for start in scene.starts() if start.input] == ["Yeah, let's do that."]


def test_a_partial_that_covers_an_earlier_final_is_not_read_after_it() -> None:
    scene = Scene().greeted()
    scene.voice(5000, 5300)
    scene.at(5540, final("Yeah.", 5000, 5300, segment=1))
    scene.voice(5660, 7400)
    scene.at(6300, partial("Yeah, let's do", 5000, 6200))
    scene.until(6400)
    scene.at(7640, final("Yeah, let's do that now.", 5000, 7400, segment=2))
    scene.until(9800)
    texts = [start.input.text for start in scene.starts() if start.input]
    assert texts == ["Yeah, let's do that now."]


def test_what_the_recognizer_has_answered_for_is_left_to_it_after_a_false_alarm() -> None:
    scene = talking()
    scene.says(2000, 2400, "uh-huh", verdict="backchannel")
    scene.until(4000)
    assert scene.when(ReleaseOutput)
    assert not scene.of(DropTranscript)


def test_a_sound_that_was_no_speech_does_not_swallow_the_answer_that_is_owed() -> None:
    """A13: a click right after "uh-huh" must not cost the whole wait for words."""
    scene = talking()
    scene.voice(2000, 2300)
    scene.until(2400)
    scene.do(VoiceStarted(2390))
    scene.until(2480)
    scene.do(VoiceEnded(2390, 2440, 40, False))
    scene.until(2700)
    assert scene.of(DecodeNow)
    assert not scene.of(DropTranscript)


def test_the_first_word_of_the_line_that_just_began_is_its_echo() -> None:
    """A14: an agent that stops for its own voice comes no further than its first word."""
    scene = Scene(strong=False)
    line = scene.reply(LINE, ms=6000)
    scene.says(300, 700, "Our")
    scene.until(9000)
    assert scene.player.finished == [line]
    assert scene.records("suppressed")[0]["reason"] == "echo"
