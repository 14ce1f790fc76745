"""What callers say to six questions, and what may be taken from it.

None = nothing may be taken: the engine asks again, which costs a turn; a wrong value may lock a
card. Today is Wednesday, the fourth of March.
"""

import pytest

from runtime.agent import Expect, Json
from runtime.models.offline.fields import read_asked
from runtime.models.situation import AskedField, ChoiceOption
from tests.runtime.models.offline.scenes import scene


def options(*labels: str) -> tuple[ChoiceOption, ...]:
    return tuple(ChoiceOption(label, label) for label in labels)


REASON = AskedField(
    "reason", "categorical", choices=options("lost", "stolen", "broken", "never arrived")
)
SHIPPING = AskedField("shipping", "categorical", choices=options("standard", "express"))
TIME = AskedField("slot", "text", choices=options("nine o'clock", "half past ten", "three o'clock"))
DOCTOR = AskedField("doctor", "text", choices=options("Dr. Chen", "Dr. Patel"))
DAY = AskedField("day", "text", "The day of the visit.", Expect("date"))
BORN = AskedField("birth_date", "text", "When they were born.", Expect("date"))
PEOPLE = AskedField("people", "int", "How many come.")
NUMBER = AskedField("customer_number", "text", "Their number.", Expect("digits", 6))

QUESTIONS = {
    "reason": "Was it stolen, did you lose it, is it broken, or did it never arrive?",
    "shipping": "Shall I send it by standard post, in five working days, or by express, in two?",
    "slot": "I have nine o'clock, half past ten or three o'clock. Which one?",
    "doctor": "Dr. Chen or Dr. Patel?",
}

Table = list[tuple[str, Json]]

REASONS: Table = [
    ("stolen", "stolen"),
    ("it was stolen", "stolen"),
    ("someone stole it", "stolen"),
    ("somebody has stolen my bag with it", "stolen"),
    ("lost", "lost"),
    ("I lost it", "lost"),
    ("I keep losing it", "lost"),
    ("it's broken", "broken"),
    ("I broke it", "broken"),
    ("the chip broke", "broken"),
    ("it never arrived", "never arrived"),
    ("it never came", "never arrived"),
    ("never got it", "never arrived"),
    ("it didn't arrive", "never arrived"),
    ("it hasn't come yet", "never arrived"),
    ("I never received it", "never arrived"),
    ("the last one", "never arrived"),
    ("it was not stolen", None),
    ("it wasn't stolen", None),
    ("I don't think it was stolen", None),
    ("I never said it was stolen", None),
    ("I'm not sure if it was stolen", None),
    ("nobody stole it it just doesn't work", None),
    ("nobody stole it", None),
    ("stolen? no", None),
    ("it was never stolen", None),
    ("it arrived", None),
    ("it did arrive", None),
    ("it didn't get stolen", None),
    ("I haven't got it anymore", None),
    ("I lost it and somebody stole it", None),
    ("lost or stolen", None),
    ("the last time I saw it was monday", None),
    ("first of all good morning", None),
    ("no it wasn't stolen, it's just broken", "broken"),
    ("no it wasn't stolen it's just broken", "broken"),
    ("it wasn't stolen just broken", "broken"),
    ("it was not stolen but lost", "lost"),
    ("it was not stolen it was lost", "lost"),
    ("I didn't lose it I broke it", "broken"),
    ("I can't find it I think I lost it", "lost"),
    ("it wasn't lost it never came", "never arrived"),
    ("it was lost not stolen", "lost"),
    ("I don't know, lost maybe", "lost"),
]
SHIPPINGS: Table = [
    ("express please", "express"),
    ("standard is fine", "standard"),
    ("two days", "express"),
    ("in two days please", "express"),
    ("by post", "standard"),
    ("five days", "standard"),
    ("not express", None),
    ("anything but express", "standard"),
    ("I don't need express", None),
    ("not express, standard", "standard"),
    ("express is too expensive", None),
    ("express is too expensive, standard please", "standard"),
    ("the quick one", None),
    ("three days", None),
    ("I can't wait five days", None),
    ("not the standard one the express one", "express"),
    ("the other one", None),
    ("rather standard than express", None),
]
TIMES: Table = [
    ("nine", "nine o'clock"),
    ("at nine please", "nine o'clock"),
    ("nine would be great", "nine o'clock"),
    ("half past ten", "half past ten"),
    ("ten thirty", "half past ten"),
    ("10:30", "half past ten"),
    ("three in the afternoon", "three o'clock"),
    ("the last one", "three o'clock"),
    ("last", "three o'clock"),
    ("number two", "half past ten"),
    ("the second", "half past ten"),
    ("a quarter past seven", None),
    ("ten past three", None),
    ("half past nine", None),
    ("nine fifteen", None),
    ("quarter to three", None),
    ("before nine", None),
    ("after three", None),
    ("ten", None),
    ("the one I saw last time", None),
    ("I can't do nine", None),
    ("nine doesn't work for me", None),
    ("nine I can't do", None),
    ("nine is too early", None),
    ("nine, no good", None),
    ("nine is not possible", None),
    ("not at three", None),
    ("nine or three", None),
    ("nine or ten", None),
    ("anything but nine", None),
    ("not nine, three", "three o'clock"),
    ("I can't do nine but three works", "three o'clock"),
    ("nine doesn't work make it three", "three o'clock"),
    ("nine? no, three", "three o'clock"),
]
DOCTORS: Table = [
    ("Chen", "Dr. Chen"),
    ("doctor Patel please", "Dr. Patel"),
    ("nobody but Chen", "Dr. Chen"),
    ("not Chen", None),
    ("I don't want Chen", None),
    ("anyone but Chen", "Dr. Patel"),
    ("anybody except Chen", "Dr. Patel"),
    ("everyone other than doctor Chen", "Dr. Patel"),
    ("not Chen, the other one", "Dr. Patel"),
    ("Patel not Chen", "Dr. Patel"),
    ("not Chen not Patel", None),
    ("neither", None),
    ("either", None),
]
DAYS: Table = [
    ("friday", "2026-03-06"),
    ("tomorrow", "2026-03-05"),
    ("friday the sixth of march", "2026-03-06"),
    ("next friday not this friday", "2026-03-13"),
    ("I can't do thursday", None),
    ("any day but friday", None),
    ("not on monday", None),
    ("thursday is no good", None),
    ("friday doesn't work", None),
    ("tomorrow or friday", None),
    ("tomorrow or the day after", None),
    ("from monday to friday", None),
    ("before friday", None),
    ("every friday", None),
    ("monday the sixth of march", None),
    ("thursday is no good, make it friday", "2026-03-06"),
    ("thursday is no good make it friday", "2026-03-06"),
    ("I can't make thursday how about friday", "2026-03-06"),
    ("friday, not thursday", "2026-03-06"),
    ("tuesday, no sorry, friday", "2026-03-06"),
]
BIRTHS: Table = [
    ("the third of may nineteen ninety", "1990-05-03"),
    ("12/03/1985", "1985-12-03"),
    ("it was a saturday, may third 1990", "1990-05-03"),
    ("saturday", None),
    ("on saturday", None),
    ("tomorrow", None),
    ("the third of may 2030", None),
    ("not the third of may 1990", None),
]
PEOPLES: Table = [
    ("four", 4),
    ("there are four of us", 4),
    ("not four, five", 5),
    ("it isn't four it's five", 5),
    ("four, sorry, five", 5),
    ("not four", None),
    ("I can't do four", None),
    ("four or five", None),
    ("more than four", None),
    ("two adults and three kids", None),
]
NUMBERS: Table = [
    ("four seven two nine one three", "472913"),
    ("I don't have it here wait it's four seven two nine one three", "472913"),
    ("it's not four seven two nine one three", None),
    ("not 472913 but 472914", "472914"),
    ("four seven two", None),
    ("I can't find it", None),
]
ALL = [
    (field, said, value)
    for field, table in (
        (REASON, REASONS),
        (SHIPPING, SHIPPINGS),
        (TIME, TIMES),
        (DOCTOR, DOCTORS),
        (DAY, DAYS),
        (BORN, BIRTHS),
        (PEOPLE, PEOPLES),
        (NUMBER, NUMBERS),
    )
    for said, value in table
]


def read(field: AskedField, said: str) -> Json:
    question = QUESTIONS.get(field.name, "And that is?")
    at = scene(said, collecting=field, question=question, today="2026-03-04")
    return read_asked(at, field, said, only_clear=False).value


@pytest.mark.parametrize(("field", "said", "value"), ALL, ids=lambda x: getattr(x, "name", None))
def test_only_what_was_meant_is_taken(field: AskedField, said: str, value: Json) -> None:
    """D05: what is denied, doubtful or twofold is asked for again."""
    assert read(field, said) == value
