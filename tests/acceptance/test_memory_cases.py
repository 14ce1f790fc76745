"""What the assistant remembers of its own words: what was heard, no more, in whole calls."""

import pytest

from runtime.models.scripted_model import Say
from tests.acceptance.stage import play, says, types
from tests.acceptance.voices import LegibleTts
from voice.replay.far_end import Conditions, MarkFaults
from voice.replay.link import Network

QUESTION = "Which day suits you? We have Monday or Thursday."
SENTENCES = (
    "Your parcel has left the house. It will come on Monday. "
    "You have to sign for it. There is nothing to pay, and that is all."
)


@pytest.mark.parametrize("silent_client", [False, True])
@pytest.mark.parametrize("offset_ms", [0, 40])
def test_a_question_that_was_not_heard_was_not_asked(offset_ms: int, silent_client: bool) -> None:
    """B01, B02: interrupted before a word was confirmed, also by a client without marks."""
    played = play(
        [Say(QUESTION), Say("I had not asked you anything yet.")],
        says("Book me in.", "0.5s", 0.8),
        says("Sorry, what was the question?", f"say_starts+{offset_ms}ms", 1.2),
        conditions=Conditions(marks=MarkFaults(lose_every=1 if silent_client else 0)),
    )
    roles = [role for role, _ in played.prompt()]
    assert "assistant" not in roles, played.prompt()
    assert "Which day" not in str(played.prompt())
    assert played.texts()[1][1:] == ("dropped", 0)
    assert played.texts()[2][1] == "heard"
    assert played.result_problems() == []


@pytest.mark.parametrize("after_ms", [1000, 2600, 4000])
@pytest.mark.parametrize("delay_ms", [0, 100])
def test_what_is_remembered_ends_where_the_playback_was(after_ms: int, delay_ms: int) -> None:
    """B03: the engine delivers all of it at once; the far end has played a part."""
    played = play(
        [Say(SENTENCES), Say("Of course.")],
        says("Where is my parcel?", "0.5s", 1.0),
        says("Stop there.", f"agent_starts+{after_ms}ms", 0.8),
        conditions=Conditions(network=Network(delay_ms=delay_ms)),
    )
    _, state, chars = played.texts()[1]
    assert state == "cut"
    heard_ms = played.last_sound_ms(played.named("turn_started")[-1]["t_ms"]) - (
        played.named("say_started")[0]["t_ms"] - 22 - delay_ms
    )
    assert chars * 65 <= heard_ms
    assert ("assistant", f"{SENTENCES[:chars].strip()} [interrupted]") in played.prompt()
    assert " " in SENTENCES[chars - 1 : chars + 1], "it ends with a whole word"


def test_typed_words_come_after_the_message_that_they_cut_off() -> None:
    """B04: in this order in the next request."""
    options = "Your options are A, B, and when all else fails also C."
    played = play(
        [Say(options), Say("The second one it is.")],
        says("What can I choose?", "0.5s", 1.0),
        types("the second one", "agent_starts+1600ms"),
    )
    first, second, third = played.prompt()
    assert first == ("user", "What can I choose?")
    assert second[0] == "assistant" and second[1].startswith("Your options are A,")
    assert second[1].endswith("[interrupted]") and "fails" not in second[1]
    assert third == ("user", "the second one")
    commit = played.only("commit")["t_ms"]
    assert played.last_sound_ms(played.named("turn_started")[-1]["t_ms"]) <= commit + 1


def test_a_fixed_line_is_remembered_as_far_as_it_was_heard() -> None:
    """B05: as for the model's own words; the interruption is told once."""
    line = (
        "We are open Monday to Friday from nine to five, and on Saturday by appointment only. "
        "You can reach us by telephone at any time."
    )
    played = play(
        [Say("On Saturday you need an appointment.")],
        says("What about weekends?", "agent_starts+2300ms", 0.9),
        greeting=line,
    )
    (said, state, chars) = played.texts()[1]
    assert state == "cut" and "Friday" in said[:chars] and "Saturday" not in said[:chars]
    assert played.prompt() == [
        ("assistant", f"{line[:chars].strip()} [interrupted]"),
        ("user", "What about weekends?"),
    ]
    assert len(played.named("interrupted")) == 1


def test_what_is_remembered_is_the_written_text_not_the_spoken_form() -> None:
    """B08: amounts and times are spoken as words and remembered as written."""
    played = play(
        [Say("Yes, that is $5.50, until 17:30."), Say("Fine.")],
        says("How much is it?", "0.5s", 1.0),
        says("All right then.", "agent_ends+500ms", 1.0),
        tts=LegibleTts(),
    )
    assert ("assistant", "Yes, that is $5.50, until 17:30.") in played.prompt()
    assert not any("$" in text for text in played.tts.requests)
