"""English: how a caller denies, and the forms of words that a choice may be named by.

Owns the word lists of ``ENGLISH_DENIAL`` and the irregular forms; ``english.py`` takes them up.
"""

from collections.abc import Mapping

from runtime.models.offline.reading.denial_words import DenialWords
from runtime.models.offline.reading.forms import Sense

__all__ = ["DENIED_SENSES", "ENGLISH_DENIAL", "FORMS", "SENSES"]

_AUXILIARIES = (
    "am is are was were be been do does did have has had can could will would shall should may "
    "might must i'm it's that's there's they're we're you're he's she's i've we've they've i'd "
    "i'll we'll its thats im ive"
).split()
_CONTRACTED = (
    "ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mustn't needn't "
    "shan't shouldn't wasn't weren't won't wouldn't"
).split()

_DAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")

ENGLISH_DENIAL = DenialWords(
    cues={
        "part": (
            *("not", "without", "rather than", "instead of", "as opposed to", "nor", "unless"),
            *("no to", "avoid", "avoiding", "minus the"),
        ),
        "clause": (
            *(*_CONTRACTED, "cannot", "never", "hardly", "neither", "no longer", "no more"),
            *("no way", "no chance", "no good", "no use", "out of the question", "impossible"),
            *("unavailable", "is out", "are out", "too early", "too late", "too expensive"),
            *("too far", "too soon", "too long", "is wrong", "was wrong", "unable", "i doubt"),
            *("there is no", "there's no", "bad", "busy", "i'm away", "i am away", "we're away"),
            *("we are away", "i'm out", "out of town", "on holiday", "on vacation", "difficult"),
            *("at the earliest", "onwards", "or later", "or earlier"),
            *(f"{day}day's {word}" for day in _DAYS for word in ("out", "off", "bad", "full")),
        ),
        "none": ("nobody", "no one", "noone", "nothing", "none", "no other", "no other one"),
        "except": (
            *("except", "except for", "excepting", "excluding", "other than", "apart from"),
            *("aside from", "besides", "bar"),
        ),
        "tag": ("isn't it", "wasn't it", "doesn't it", "didn't it", "isn't that", "won't it"),
        "neutral": (
            *("why not", "not only", "not just", "isn't just", "wasn't just", "not a problem"),
            *("not bad", "not too bad", "not to worry", "don't worry", "don't mind", "or not"),
            *("wouldn't mind", "doesn't matter", "does not matter", "don't care", "can't wait"),
            *("do not mind", "not to mention"),
            *("can't go wrong", "couldn't be better", "no problem", "nothing wrong with"),
        ),
    },
    auxiliaries=frozenset(_AUXILIARIES),
    verdicts=frozenset(
        "good great ideal possible okay ok fine available convenient right working for so".split()
    ),
    refusal="no",
    refusal_after=frozenset("is are was were have has had got with there in".split()),
    needs=frozenset({"needed", "required", "necessary", "wanted"}),
    but="but",
    universal=frozenset(
        "any anyone anybody anything anywhere anytime every everyone everybody everything all each "
        "either whichever whatever whoever whenever".split()
    ),
    other=frozenset({"other"}),
    subjects=frozenset(
        "i i'm im i've ive i'd i'll we we're we've we'd we'll he he's she she's they they're "
        "they've someone somebody it's its it'll it'd that's thats that'll there's".split()
    ),
    speakers=frozenset("i i'm im i've ive i'd i'll we we're we've we'd we'll".split()),
    objects=frozenset({"it", "that", "this"}),
    verbs=frozenset(
        "is was has had will would does did just actually really never got came broke should can "
        "could must might may isn't wasn't hasn't hadn't won't wouldn't doesn't didn't can't "
        "couldn't isnt wasnt hasnt wont doesnt didnt cant".split()
    ),
    pointing=frozenset("it's its that's thats it that this".split()),
    links=frozenset(
        "think thought believe guess suppose know knew say said says saying mean meant sure "
        "certain positive if whether that because cause since when while like as than which who "
        "where why how until till before after remember recall feel claim claiming reckon told "
        "unless true convinced hope admit report reported though although".split()
    ),
    wants=frozenset("want like do need take have for at".split()),
    breaks=frozenset({"then", "instead", "so"}),
    restarts=(
        *("make it", "make that", "let's", "lets", "just", "only", "maybe", "perhaps", "rather"),
        *("please", "how about", "what about", "give me", "give it", "yes", "yeah", "probably"),
        *(
            "the other",
            "another",
            "simply",
            "change it",
            "use the",
            "take the",
            "try",
            "more like",
            "better",
        ),
    ),
    leaning=frozenset(
        "to really actually even just ever still also quite always want wanna gonna can will could "
        "would and or".split()
    ),
    things=frozenset({"one", "ones"}),
    articles=frozenset({"the", "a", "an", "my"}),
    hollow=frozenset(
        "good great ideal possible do does did make want work works working suit suits like fine "
        "ok okay that this those one for me us i we at all really is are be am can will would it "
        "with either right no nope please sorry available convenient time able to".split()
    ),
)

FORMS: Mapping[str, str] = {
    form: verb
    for verb, forms in {
        "lose": "lost loses losing loosing loose",
        "break": "broke broken breaks breaking",
        "steal": "stole stolen steals stealing",
        "send": "sent sends sending",
        "get": "got gotten gets getting",
        "come": "came comes coming",
        "take": "took taken takes taking",
        "give": "gave given gives giving",
        "find": "found finds finding",
        "forget": "forgot forgotten",
        "pay": "paid",
        "buy": "bought",
        "bring": "brought",
        "leave": "left leaves leaving",
        "keep": "kept",
        "tear": "tore torn",
        "burn": "burnt",
        "bend": "bent",
        "eat": "ate eaten",
        "fly": "flew flown flies flying",
        "drive": "drove driven",
        "go": "went gone goes going",
        "choose": "chose chosen",
        "write": "wrote written",
        "wear": "wore worn",
        "sell": "sold",
        "hold": "held",
        "make": "made",
        "spend": "spent",
        "swallow": "swallowed",
    }.items()
    for form in forms.split()
}
"""Irregular forms of verbs; regular endings are cut."""

SENSES: Mapping[str, str] = {"break": "broken", "damage": "broken"}
"""Words that callers take for one another, by what they are said for."""

_NEVER = frozenset("never didn't didnt hasn't hasnt haven't havent wasn't wasnt".split())
_NEVER_DID = frozenset("never didn't didnt".split())
_PAST = frozenset({"did", "has", "have", "had", "was"})
_SELF = frozenset({"i", "we", "i've", "we've"})
DENIED_SENSES: Mapping[str, Sense] = {
    "arrive": Sense("came", _NEVER, _PAST, _SELF),
    "come": Sense("came", _NEVER, _PAST, _SELF),
    "show": Sense("came", _NEVER, _PAST, _SELF, "up"),
    "turn": Sense("came", _NEVER, _PAST, _SELF, "up"),
    "receive": Sense("came", _NEVER, _PAST),
    "deliver": Sense("came", _NEVER, _PAST),
    "get": Sense("came", _NEVER_DID, frozenset({"did"})),
}
"""The same for words that were denied, each only after one of the words beside it."""
