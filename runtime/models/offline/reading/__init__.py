"""Readers of values in what a caller said: pure, deterministic, and without a network.

They never raise on any text, look at no more than its first 20,000 characters and take their words
from a ``Lexicon``; English is packaged. Which reader is asked is the planner's decision.
"""

from runtime.models.offline.reading.amounts import has_money, read_amount
from runtime.models.offline.reading.answers import read_yes_no
from runtime.models.offline.reading.choices import read_choice, weigh_choices
from runtime.models.offline.reading.controls import control_words
from runtime.models.offline.reading.corrections import is_correction
from runtime.models.offline.reading.dates import read_date
from runtime.models.offline.reading.digits import read_digits
from runtime.models.offline.reading.english import ENGLISH
from runtime.models.offline.reading.found import (
    Answer,
    AnswerKind,
    Choice,
    ChoiceReading,
    Control,
    ControlKind,
    Found,
)
from runtime.models.offline.reading.lexicon import Lexicon, lexicon_for
from runtime.models.offline.reading.names import read_name
from runtime.models.offline.reading.numbers import read_integer, read_number
from runtime.models.offline.reading.spelling import read_email, read_spelled
from runtime.models.offline.reading.times import read_time
from runtime.models.offline.reading.typed import cleaned, read_for_type

__all__ = [
    "ENGLISH",
    "Answer",
    "AnswerKind",
    "Choice",
    "ChoiceReading",
    "Control",
    "ControlKind",
    "Found",
    "Lexicon",
    "cleaned",
    "control_words",
    "has_money",
    "is_correction",
    "lexicon_for",
    "read_amount",
    "read_choice",
    "read_date",
    "read_digits",
    "read_email",
    "read_for_type",
    "read_integer",
    "read_name",
    "read_number",
    "read_spelled",
    "read_time",
    "read_yes_no",
    "weigh_choices",
]
