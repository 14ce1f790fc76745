"""English phrases that the rules look for, beside those that the readers know.

Owns what shows that a caller only listens, refuses without a no, wants something undone, or wants a
value to be another one. Any language is searched for them; in most nothing is found.
"""

import re

from runtime.models.offline.reading.tokens import Tokens, tokenize

__all__ = [
    "adds_nothing",
    "asks_again",
    "asks_what_was_asked",
    "asks_for_another_voice",
    "begins_to_tell",
    "can_not",
    "is_backchannel",
    "is_number",
    "is_refusal",
    "is_sound",
    "is_curse",
    "keeps",
    "leaves_as_it_is",
    "negates",
    "only_go_on",
    "says_so",
    "undoes",
    "undoes_it",
    "undoes_politely",
    "wished_instead",
    "without_joints",
    "without_leads",
    "without_undoing",
]

_BACKCHANNELS = frozenset(
    """mhm mm mmm mmhm mmhmm mhmm hm hmm uh huh um ah oh aha ok okay right yeah yea i see got it
    alright all""".split()
)
_MOST_BACKCHANNEL = 3
_SOUNDS = frozenset("mhm mm mmm mmhm mmhmm mhmm hm hmm uh huh um ah oh aha er eh".split())
_SOFTLY = r"(?:(?:please|just|and|then|so|now|yes|ok|okay|sure)\s+)*"
_GO_ON = re.compile(
    rf"{_SOFTLY}(?:go on|go ahead|carry on|on you go|get on with it|do so|go for it|you do that|"
    r"by all means)(?:\s+(?:please|then|now|(?:and )?do (?:it|that)|with (?:it|that)))*"
)
_ADDS_NOTHING = re.compile(r"(?:please|just|then|so|now)(?:\s+(?:please|just|then|so|now))*")
_AGAIN = frozenset(
    """sorry|sorry what|what sorry|oh sorry|sorry i didn't get that|pardon|huh|what|eh|come again|
    i'm sorry|what was that|sorry once more""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_REFUSALS = re.compile(
    r"(?:(?:please|just|oh|well|actually|um|uh|no|can you|could you)\s+)*"
    r"(?:hold off(?: on (?:that|it|this))?|not so fast|not just yet|let's not|lets not|"
    r"leave it(?: for now| at that)?|don't do (?:that|it|this)(?: yet)?|hold fire|hold that|"
    r"don't go ahead(?: with (?:it|that|this))?(?: yet)?|"
    r"do not (?:go ahead|do (?:that|it|this))(?: yet)?|"
    r"not like that|i've changed my mind|i changed my mind|on second thoughts? no)"
    r"(?:\s+(?:please|thanks|thank you|for now|for the moment|yet|just|then))*"
)
_SAYS_SO = re.compile(
    r"(?:(?:yes|yeah|yep|yup|sure|ok|okay|oh|well|um|uh|please)\s+)*"
    r"(?:yes|yeah|yep|yup|sure)\s+(?:please\s+|that\s+)?"
    r"(?:(?:i|we) (?:do |really do |really )?(?:want|would like) (?:that|it|this|to)|"
    r"i'd (?:like|love) (?:that|it|to)|do|let's|"
    r"(?:that is|that's|it's|it is|this is)(?: exactly| just)? what (?:i|we) want(?:ed)?|"
    r"(?:please )?do (?:that|it|this))(?:\s+(?:please|thanks|thank you|then|now))*"
)
_KEEPS = re.compile(
    r"(?:(?:no|nope|nah|oh|um|uh|well|actually|please|just|wait|can you|could you|we|i|want to|"
    r"i'd like to|i'd rather|we'd rather|i'll|we'll|let's|lets|i would rather|i think)\s+)*"
    r"(?:keep|leave)\s+(?:it|that|this|them|everything|(?:the|my|that|this)(?: [\w']+){1,5})"
    r"(?:\s+(?:please|thanks|thank you|then|as is|as it is|where it is|for now|alone))*"
)
_STAYS_SO = re.compile(
    r"(?:(?:no|yes|ok|okay|please|just|let's) )*leave (?:it|that|this)"
    r" (?:at|on|as|for|with|like|in|to) (?!that$|now$).*"
)
_UNDOES_IT = re.compile(
    r"(?:(?:please|yes|yeah|ok|okay|just|then|so|can you|could you|would you|will you|i want to|"
    r"i want you to|i'd like to|i'd like you to|i need to) )*(?P<act>[a-z]+) (?:it|that|this|them)"
    r"(?: (?:please|now|then|thanks|thank you|for me))*"
)
_ASKS_BACK = re.compile(
    r"(?:(?:sorry|wait|and|so|but|um|uh|oh|ok|okay|hold on)\s+)*"
    r"(?:(?:what|when|where|who|which)(?: (?:time|day|date|one|name))?"
    r"(?:'s| is| was| were| did you say)(?: [\w']+){0,4} again|"
    r"(?:what|which) (?:time|day|date|one|name)(?: exactly)? (?:is|was) "
    r"(?:it|that|this)(?: for| at)?|"
    r"(?:what|when) (?:is|was) the (?:time|day|date|name)|"
    r"(?:when|who) (?:is|was) (?:it|that|this)(?: with| for)?|who with|with (?:who|whom)|"
    r"(?:when|who|what) did you say(?: it (?:is|was))?(?: with| for)?)(?:\s+please)?"
)
_CURSE = re.compile(
    r"(?:(?:oh|just|please|you|can|go|no|ok|well|hey|so|and) )*"
    r"(?:get lost|get stuffed|go away|damn (?:it|you)|go to hell)(?: [\w']+){0,2}"
)
_TELLS = re.compile(
    r"(?:(?:no|yes|well|but|and|so|um|uh|oh|ok|okay|actually|sorry|wait) )*(?:i mean|i meant|"
    r"(?:i want|i wanted|i'd like|i would like|i need) to (?:know|ask|tell)|i was wondering|"
    r"i wonder|let me ask)\b"
)
_PRICED = re.compile(r"\b(?:cost|costs|price|much|many|long|fee|charge|charged|happens)\b")
_UNDO = re.compile(
    r"\b(?:cancel|cancell?ing|delete|deleting|remove|removing|undo|revoke|withdraw|terminate|"
    r"unsubscribe|abort|scrap|stop|call(?:ing)? (?:it |that |this )?off|get(?:ting)? rid of)\b",
    re.IGNORECASE,
)
_CAN_NOT = re.compile(
    r"\b(?:can ?'?t|cannot|can not|won'?t|will not|unable|not able|couldn'?t)\b", re.IGNORECASE
)
_NEGATION = re.compile(r"\b(?:not|without|neither|nor|except|instead)\b|n't\b", re.IGNORECASE)
_MANNER = re.compile(
    r"(?:(?:can|could|would|will) you |please |a |just |sorry |no |i need you to |be |um |uh )*"
    r"(?:(?:speak|talk|say (?:that|it)|go|repeat (?:that|it)) )?(?:again )?"
    r"(?:(?:a )?(?:bit|little)(?: bit)? )?(?:more )?"
    r"(?:slower|slowly|slow down|louder|loudly|speak up|clearly|clearer|quieter|quietly|faster|"
    r"slow it down|not so fast)(?: please| for me| a (?:bit|little))*"
)
_BEFORE = frozenset(
    """yes yeah yep ok okay sure no nope nah and but also well um uh er oh so actually sorry wait
    hold on hang please then perhaps maybe just hmm hm or wrong""".split()
)
_ASKING = r"(?:(?:can|could|may|might) (?:we|you|i)|let's|lets|i'd like to|i want to|please|just)"
_VALUE = r"(?P<value>\S.{0,200}?)"
_JOINTS = re.compile(
    r"^(?:[\s,.;]*\b(?:and|also|then|but|by the way|after that|plus)\b)+[\s,.;]*", re.IGNORECASE
)
_END = r"(?: (?:instead|rather|then|please|if possible|if you can|for me|thanks|thank you|now))*"
_STRONG: tuple[re.Pattern[str], ...] = tuple(
    re.compile(f"^{pattern}{_END}[ .!?]*$", re.IGNORECASE)
    for pattern in (
        rf"(?:{_ASKING} )*(?:make|change|move|switch|set|put|shift) (?:it|that|this)"
        rf"(?: to| for| on| at)? {_VALUE}",
        rf"(?:{_ASKING} )*(?:do|have|take|try|go (?:for|with)|say|use|book)"
        rf"(?: it| that| this)?(?: to| for| on| at)? {_VALUE} (?:instead|rather)",
        rf"(?:the|my|that|its?) (?:[\w']+ ){{1,4}}?(?:should|must|has to|needs to|ought to)"
        rf"(?: have)? be(?:en)? {_VALUE}",
        rf"(?:it|that|this) (?:should|must|has to|needs to)(?: have)? be(?:en)? {_VALUE}",
        rf"(?:on |at |for )?{_VALUE} (?:instead|rather)",
    )
)
_WEAK: tuple[re.Pattern[str], ...] = tuple(
    re.compile(f"^{pattern}{_END}[ .!?]*$", re.IGNORECASE)
    for pattern in (
        rf"(?:on |at |for )?{_VALUE} (?:would|might|will|could|'d)(?: be| suit| work| do)"
        r"(?: me| us)?(?: much| even| a bit)?(?: better| best| easier| preferable| nicer)",
        rf"(?:on |at |for )?{_VALUE} (?:is|suits me|suits us|works|works out) "
        r"(?:better|best|easier)(?: for me| for us)?",
        rf"(?:i'd|we'd|i would|we would) (?:rather|prefer)(?: have| it| to have| on| at)* {_VALUE}",
        rf"(?:i|we) prefer {_VALUE}",
        rf"(?:what|how) about(?: on| at)? {_VALUE}",
        rf"(?:can|could) (?:it|we) (?:be|do|have|make it)(?: on| at)? {_VALUE}",
    )
)


def is_backchannel(text: str) -> bool:
    """Whether nothing but a sound of listening was made: "mhm", "ok", "I see"."""
    words = tokenize(text).words
    return (
        "?" not in text
        and 0 < len(words) <= _MOST_BACKCHANNEL
        and all(w.norm in _BACKCHANNELS for w in words)
    )


def is_sound(text: str) -> bool:
    """Whether no word was said, only a sound of listening, "uh huh": it agrees to nothing."""
    words = tokenize(text).words
    return bool(words) and all(w.norm in _SOUNDS for w in words)


def says_so(text: str) -> bool:
    """Whether a yes only says once more that it is one: "yes, that is what I want"."""
    return _SAYS_SO.fullmatch(_plain(text)) is not None


def begins_to_tell(text: str) -> bool:
    """Whether the words only lead up to something: "I want to know ...", "I mean ..."."""
    return _TELLS.match(_plain(text)) is not None


def is_curse(text: str) -> bool:
    """Whether the agent is sent away: nothing was lost by "get lost"."""
    return _CURSE.fullmatch(_plain(text)) is not None


def keeps(text: str) -> bool:
    """Whether what was to be undone shall stay: "keep it"."""
    return _KEEPS.fullmatch(_plain(text)) is not None


def leaves_as_it_is(text: str) -> bool:
    """Whether a value is to stay: "leave it at three" lets nothing go."""
    return _STAYS_SO.fullmatch(_plain(text)) is not None


def undoes_it(text: str) -> bool:
    """Whether what is talked about is to be undone, and no more is said: "can you delete it"."""
    found = _UNDOES_IT.fullmatch(_plain(text))
    return found is not None and undoes(found["act"])


def undoes_politely(text: str, question: str) -> bool:
    """Whether it asks, with a please, for the very undoing that was asked about."""
    found = _UNDOES_IT.fullmatch(_plain(text)) if undoes_it(text) else None
    if found is None or "please" not in _plain(text).split():
        return False
    return found["act"] in _plain(question).split()


def asks_what_was_asked(text: str) -> bool:
    """Whether it asks for something that the question has told: "what was the time again"."""
    said = _plain(text)
    return _ASKS_BACK.fullmatch(said) is not None and _PRICED.search(said) is None


def adds_nothing(text: str) -> bool:
    """Whether the words beside an answer leave it what it is: "then", "now please"."""
    return _ADDS_NOTHING.fullmatch(_plain(text)) is not None or only_go_on(text)


def only_go_on(text: str) -> bool:
    """Whether the words do no more than send the agent on its way."""
    return _GO_ON.fullmatch(_plain(text)) is not None


def asks_again(text: str) -> bool:
    """Whether the caller did not hear: "sorry?"."""
    return _plain(text) in _AGAIN


def asks_for_another_voice(text: str) -> bool:
    """Whether it is to be said slower, or louder."""
    return _MANNER.fullmatch(_plain(text)) is not None


def is_refusal(text: str) -> bool:
    """Whether it refuses with no "no" in it: "hold off"."""
    return _REFUSALS.fullmatch(_plain(text)) is not None


def undoes(text: str) -> bool:
    """Whether something is to be undone: "cancel my booking"; not that it is: "was cancelled"."""
    return _UNDO.search(text) is not None


def without_joints(text: str) -> str:
    """Leave out what joins it to what was said before: of "and also where", the where."""
    return _JOINTS.sub("", text, count=1)


def without_undoing(text: str) -> str:
    """The words that say what is to be undone."""
    return _UNDO.sub(" ", text)


def can_not(text: str) -> bool:
    """Whether the caller tells what they can't or won't do."""
    return _CAN_NOT.search(text) is not None


def negates(text: str) -> bool:
    """Whether something in the words is not so."""
    return _NEGATION.search(text.replace("\u2019", "'")) is not None


def is_number(text: str, numbers: frozenset[str], fillers: frozenset[str]) -> bool:
    """Whether a number is all that was said; fillers beside it say nothing."""
    words = [word for word in tokenize(text).words if word.norm not in fillers]
    return bool(words) and all(w.kind in ("number", "ordinal") or w.norm in numbers for w in words)


def without_leads(text: str) -> str:
    """Leave out what stands before what is meant: of "wait, no", the no is left by its caller."""
    tokens = tokenize(text)
    return tokens.rest(_past_leads(tokens))


def wished_instead(text: str) -> tuple[str, bool] | None:
    """What a value shall be instead: "Friday would be better", "can we do Friday instead".

    Returns:
        The words of the value, and whether only a change can be meant.
    """
    bare = without_leads(text).replace("\u2019", "'").replace(",", "")[:400]
    for patterns, is_strong in ((_STRONG, True), (_WEAK, False)):
        for pattern in patterns:
            found = pattern.match(bare)
            if found is not None:
                return found["value"], is_strong
    return None


def _past_leads(tokens: Tokens) -> int:
    at = 0
    while at < len(tokens) and tokens.norm(at) in _BEFORE:
        at += 1
    return at


def _plain(text: str) -> str:
    return " ".join(token.norm for token in tokenize(text[:200]).words)
