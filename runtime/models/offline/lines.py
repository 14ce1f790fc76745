"""What the planner says in its own words, by language.

Owns the lines. Everything else that a caller hears is the project's: its responses, the names of
its skills and fields, its reference files. English is packaged; any other language gets it too.
"""

from dataclasses import dataclass

__all__ = ["ENGLISH_LINES", "Lines", "lines_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of one language; braces are filled in."""

    greeting: str
    present: str
    welcome: str
    waiting: str
    noted: str
    what_else: str
    not_again: str
    """Twice in a row nothing could be made of the words; what can be done comes after it."""
    any_more: str
    """After a no that is the answer to nothing; it asks whether the call is over."""
    goodbye: str
    not_caught: str
    not_taken: str
    not_changed: str
    not_possible: str
    not_known: str
    not_for_me: str
    """The skill is free prose, which the planner can't follow."""
    no_person: str
    yes_or_no: str
    which: str
    """``{options}`` were understood, and one is to be chosen."""
    suggest: str
    """``{option}`` may have been meant."""
    yes_no: str
    can_do: str
    say_one_of: str
    digits_wrong: str
    """``{heard}`` digits were said where ``{wanted}`` are wanted; both begin alike."""
    digit_wrong: str
    """The same of a single one."""
    digits_form: str
    """Of a number of ``{wanted}`` digits, where one line before did not help."""
    date_form: str
    year_missing: str
    or_person: str
    """After the third time that an answer was not understood."""
    ask: str
    """For ``{name}``, a field without a question of its own."""
    ask_choice: str
    ask_yes_no: str
    ask_confirmation: str
    """For a held call of ``{action}``, ``{details}`` or nothing after it."""
    declined: str
    done: str
    failed: str
    uncertain: str
    """Of a call whose outcome nobody knows."""
    joint: str
    """Between the last two of several options."""
    anything_else: tuple[str, ...]
    """What tells, in the agent's line before, that a plain no ends the call."""


ENGLISH_LINES = Lines(
    greeting="Hello. What can I do for you?",
    present="Yes, I'm here.",
    welcome="You're welcome.",
    waiting="Take your time.",
    noted="All right.",
    what_else="What can I do for you?",
    not_again="I'm sorry, I still don't follow.",
    any_more="All right. Is there anything else?",
    goodbye="Goodbye.",
    not_caught="Sorry, I didn't catch that.",
    not_taken="I'm sorry, I can't take that.",
    not_changed="I'm sorry, I can't change that now.",
    not_possible="I'm sorry, I can't do that now.",
    not_known="I'm sorry, I don't know that.",
    not_for_me="I'm sorry, I can't do that without a language model.",
    no_person="I'm sorry, I can't put you through to a person from here.",
    yes_or_no="Sorry, I need a clear yes or no.",
    which="Which do you mean: {options}?",
    suggest="Do you mean this: {option}?",
    yes_no="yes or no",
    can_do="I can help with this: {options}.",
    say_one_of="Please say {options}.",
    digits_wrong="I heard {heard} digits, and I need {wanted}.",
    digit_wrong="I heard {heard} digit, and I need {wanted}.",
    digits_form="Please say the {wanted} digits one by one.",
    date_form="Please say the day, the month and the year.",
    year_missing="I need the year too.",
    or_person="You can also ask for a person.",
    ask="What is your {name}?",
    ask_choice="Which {name}: {options}?",
    ask_yes_no="I need a yes or no for this: {name}?",
    ask_confirmation="Before I do this: {action}{details}. Shall I go ahead?",
    declined="All right, I won't do that.",
    done="That is done.",
    failed="I'm sorry, that did not work.",
    uncertain="I'm sorry, I can't tell whether that went through.",
    joint="or",
    anything_else=("anything else", "something else"),
)

_PACKAGED = {"en": ENGLISH_LINES}


def lines_for(language: str) -> Lines:
    """Return the lines of a BCP 47 tag, English where its language is not packaged."""
    return _PACKAGED.get(language.replace("_", "-").partition("-")[0].casefold(), ENGLISH_LINES)
