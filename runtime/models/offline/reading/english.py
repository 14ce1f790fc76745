"""English: numbers, spelling, dates and times.

Owns the word lists of ``ENGLISH``; the phrases of talk are in ``english_talk.py``.
"""

from runtime.models.offline.reading import english_denial as denial
from runtime.models.offline.reading import english_talk as talk
from runtime.models.offline.reading.lexicon import Lexicon

__all__ = ["ENGLISH"]

_UNITS = {
    word: value
    for value, words in enumerate(
        (
            "zero nought naught nil",
            "one wun",
            "two",
            "three",
            "four fore",
            "five fife",
            "six sics",
            "seven",
            "eight",
            "nine niner",
        )
    )
    for word in words.split()
}
_TEENS = {
    word: 10 + value
    for value, words in enumerate(
        (
            "ten",
            "eleven",
            "twelve twelf",
            "thirteen",
            "fourteen forteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen eightteen",
            "nineteen ninteen",
        )
    )
    for word in words.split()
}
_TENS = {
    word: 10 * value
    for value, words in enumerate(
        (
            "twenty twinty",
            "thirty",
            "forty fourty",
            "fifty",
            "sixty",
            "seventy",
            "eighty",
            "ninety ninty",
        ),
        start=2,
    )
    for word in words.split()
}
_ORDINAL_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS, start=1)} | {
    "twentieth": 20,
    "thirtieth": 30,
    "fith": 5,
    "nineth": 9,
    "twelth": 12,
}
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
).split()
_MONTHS = (
    {word: value for value, word in enumerate(_MONTH_NAMES, start=1)}
    | {word[:3]: value for value, word in enumerate(_MONTH_NAMES, start=1)}
    | {"sept": 9, "febuary": 2}
)
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAYS = {word: value for value, word in enumerate(_WEEKDAY_NAMES)} | {
    "mon": 0,
    "tue": 1,
    "tues": 1,
    "wed": 2,
    "weds": 2,
    "wensday": 2,
    "thu": 3,
    "thur": 3,
    "thurs": 3,
    "fri": 4,
}
_ALPHABET = {
    word: word[0]
    for word in (
        "alfa alpha bravo charlie delta echo foxtrot golf hotel india juliet juliett juliette kilo "
        "lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey whisky "
        "xray yankee zulu"
    ).split()
}
_LETTER_NAMES = {
    word: letter
    for letter, words in {
        "a": "ay eh",
        "b": "bee be",
        "c": "cee see sea",
        "d": "dee",
        "e": "ee",
        "f": "ef eff",
        "g": "gee",
        "h": "aitch haitch",
        "i": "eye",
        "j": "jay",
        "k": "kay",
        "l": "el ell",
        "m": "em",
        "n": "en",
        "o": "oh owe",
        "p": "pee",
        "q": "cue queue",
        "r": "ar are",
        "s": "ess",
        "t": "tee tea",
        "u": "you yu",
        "v": "vee",
        "x": "ex",
        "y": "why wye",
        "z": "zee zed",
    }.items()
    for word in words.split()
}

ENGLISH = Lexicon(
    language="en",
    day_first=False,
    decimal_comma=False,
    units=_UNITS,
    teens=_TEENS,
    tens=_TENS,
    scales={
        "hundred": 100,
        "hundreds": 100,
        "thousand": 1000,
        "million": 1_000_000,
        "billion": 1_000_000_000,
    },
    ordinals=_ORDINALS,
    fractions={
        "half": 0.5,
        "halves": 0.5,
        "quarter": 0.25,
        "quarters": 0.25,
        "third": 1 / 3,
        "thirds": 1 / 3,
    },
    sounds_like={
        "to": 2,
        "too": 2,
        "for": 4,
        "won": 1,
        "ate": 8,
        "tree": 3,
        "free": 3,
        "sex": 6,
        "sicks": 6,
        "fine": 9,
    },
    zero_letters=frozenset({"oh", "o", "ow", "owe"}),
    repeats={"double": 2, "triple": 3, "treble": 3, "quadruple": 4},
    groups={"dozen": 12, "couple": 2, "grand": 1000, "k": 1000, "score": 20},
    articles=frozenset({"a", "an"}),
    conjunction="and",
    minus=frozenset({"minus", "negative"}),
    point=frozenset({"point", "dot", "decimal"}),
    numeral_before=frozenset(
        "is it's its for just only about um uh er make be than of with say only me to have need "
        "want take at around exactly maybe number and or plus yes yeah sorry actually".split()
    ),
    currencies={
        "dollar": 1,
        "dollars": 1,
        "buck": 1,
        "bucks": 1,
        "euro": 1,
        "euros": 1,
        "pound": 1,
        "pounds": 1,
        "quid": 1,
        "franc": 1,
        "francs": 1,
        "usd": 1,
        "eur": 1,
        "gbp": 1,
        "cent": 0.01,
        "cents": 0.01,
        "pence": 0.01,
        "penny": 0.01,
        "pennies": 0.01,
        "p": 0.01,
        "nickel": 0.05,
        "dime": 0.1,
    },
    signs={
        "dash": "-",
        "hyphen": "-",
        "minus": "-",
        "dot": ".",
        "period": ".",
        "point": ".",
        "underscore": "_",
        "underline": "_",
        "apostrophe": "'",
        "slash": "/",
        "space": " ",
        "plus": "+",
        "ampersand": "&",
        "_": "_",
        "&": "&",
        "+": "+",
    },
    alphabet=_ALPHABET,
    letter_names=_LETTER_NAMES,
    as_in=("as in", "like in", "is in", "for", "like", "as", "of"),
    capital=("capital", "upper case", "uppercase", "big", "capital letter", "cap"),
    at_sign=frozenset({"at", "@"}),
    months=_MONTHS,
    weekdays=_WEEKDAYS,
    day_words={
        "today": 0,
        "tonight": 0,
        "this morning": 0,
        "this afternoon": 0,
        "this evening": 0,
        "tomorrow": 1,
        "tomorow": 1,
        "the day after tomorrow": 2,
        "day after tomorrow": 2,
        "yesterday": -1,
        "the day before yesterday": -2,
        "day before yesterday": -2,
    },
    periods={
        "day": "day",
        "days": "day",
        "week": "week",
        "weeks": "week",
        "fortnight": "fortnight",
        "fortnights": "fortnight",
        "month": "month",
        "months": "month",
        "year": "year",
        "years": "year",
    },
    clock_words={"noon": "12:00", "midday": "12:00", "midnight": "00:00", "noontime": "12:00"},
    day_parts={
        "am": "am",
        "a m": "am",
        "pm": "pm",
        "p m": "pm",
        "in the morning": "am",
        "this morning": "am",
        "tomorrow morning": "am",
        "morning": "am",
        "in the afternoon": "pm",
        "this afternoon": "pm",
        "tomorrow afternoon": "pm",
        "afternoon": "pm",
        "in the evening": "pm",
        "this evening": "pm",
        "tomorrow evening": "pm",
        "tomorrow night": "night",
        "evening": "pm",
        "at night": "night",
        "tonight": "night",
    },
    fillers=talk.FILLERS,
    polite=talk.POLITE,
    corrections=talk.CORRECTIONS,
    lead_ins=talk.LEAD_INS,
    name_leads=talk.NAME_LEADS,
    titles=talk.TITLES,
    name_particles=talk.NAME_PARTICLES,
    not_names=talk.NOT_NAMES,
    answers=talk.ANSWERS,
    controls=talk.CONTROLS,
    choice_noise=talk.CHOICE_NOISE,
    positions={
        **{word: value for word, value in _ORDINALS.items() if value <= 20},
        "last": -1,
        "final": -1,
        "bottom": -1,
        "latter": -1,
        "former": 1,
        "top": 1,
        "1st": 1,
        "2nd": 2,
        "3rd": 3,
        "4th": 4,
        "5th": 5,
        "6th": 6,
    },
    number_nouns=frozenset({"number", "option", "choice", "answer"}),
    question_noise=frozenset(
        "by was were did do does has had have been there then within some you your".split()
    ),
    denial=denial.ENGLISH_DENIAL,
    alternative="or",
    bounds=frozenset({"before", "after", "until", "till", "by", "from", "since", "than"}),
    number_bounds=frozenset("than over under above below between least most".split()),
    recurring=frozenset({"every", "each", "any", "some", "a", "most"}),
    forms=denial.FORMS,
    senses=denial.SENSES,
    denied_senses=denial.DENIED_SENSES,
)
