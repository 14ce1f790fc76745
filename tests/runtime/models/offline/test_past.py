"""What the messages tell of the turns before."""

from runtime.models.offline.lines import ENGLISH_LINES
from runtime.models.offline.past import Past, past_of
from runtime.models.ports import ChatMessage, RequestedCall


def user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def agent(text: str = "", *calls: tuple[str, str]) -> ChatMessage:
    asked = tuple(RequestedCall(f"c{n}", name, given) for n, (name, given) in enumerate(calls))
    return ChatMessage("assistant", text, calls=asked)


def read(*messages: ChatMessage) -> Past:
    return past_of((ChatMessage("system", "..."), *messages), ENGLISH_LINES, "en")


ACTIVATE = ("activate", '{"flow_id": "a"}')


def test_the_words_that_began_it_are_those_of_the_last_start():
    """Of turns ago, or of this one; what was sought to be set since is known."""
    begun = (user("hello"), agent("Hello."), user("a new card, express"), agent("", ACTIVATE))
    assert read(*begun).opening.words == "a new card, express"
    later = (
        *begun,
        agent("Which number?"),
        user("472913"),
        agent("", ("set_fields", '{"number": "472913"}')),
        user("no, 4"),
        agent("", ("correct", '{"memory_key": "year", "value": 4}')),
    )
    opening = read(*later, user("1984")).opening
    assert opening.words == "a new card, express"
    assert {"number", "year"} <= opening.tried and "shipping" not in opening.tried
    assert read(*later, user("where is it"), agent("", ACTIVATE)).opening.words == "where is it"


def test_a_yes_to_do_you_mean_this_began_what_was_said_before_it():
    """The yes itself tells nothing."""
    asked = agent(ENGLISH_LINES.suggest.format(option="replace a card"))
    messages = (user("stolen stuff, express"), asked, user("yes please"), agent("", ACTIVATE))
    assert read(*messages).opening.words == "stolen stuff, express"


def test_keys_are_no_words_and_a_broken_line_leaves_them():
    """As the history writes them."""
    assert read(user("[keys] 12"), agent("", ACTIVATE)).opening.words == ""
    lost = user("a new card [part of this was lost on the line]")
    assert read(lost, agent("", ACTIVATE)).opening.words == "a new card"


def test_a_turn_that_was_not_understood_is_known():
    """Not one that asked for what is not offered, and not the one before that."""
    unknown = agent("", ("cannot_help", '{"in_domain": false}'))
    ours = agent("", ("cannot_help", '{"in_domain": true}'))
    vague = agent(f"{ENGLISH_LINES.not_caught} {ENGLISH_LINES.what_else}")
    assert read(user("xyzzy"), unknown, user("plugh")).has_failed
    assert read(user("um"), vague, user("plugh")).has_failed
    assert not read(user("cancel it all"), ours, user("plugh")).has_failed
    assert not read(user("xyzzy"), unknown, user("hello"), agent("Hello."), user("x")).has_failed
    assert not read(user("plugh")).has_failed


def test_the_words_of_an_answer_to_a_held_call_are_known_for_one_turn():
    """What else was in them may still be wanted."""
    said = user("yes please, and cancel the other one")
    resolved = agent("", ("resolve_tool_confirmation", '{"confirmed": true}'))
    told = read(said, resolved, user("yes"))
    assert told.words_before == said.text and told.has_answered
    later = read(said, resolved, user("yes"), agent("Which?"), user("no"))
    assert later.words_before == "yes" and not later.has_answered


def test_no_messages_tell_nothing():
    """Nor do odd ones."""
    assert past_of((), ENGLISH_LINES, "en") == Past()
    assert read(agent("", ACTIVATE)).opening.words == ""
    assert read(user("a"), agent("", ("activate", "[[["))).opening.words == "a"


def test_the_first_part_of_a_number_is_known_where_more_was_asked_for():
    """And only then."""
    told = agent(ENGLISH_LINES.digits_wrong.format(heard=3, wanted=6))
    assert read(user("four seven two"), told, user("nine one three")).first_part == "four seven two"
    assert read(user("four seven two"), agent("All right."), user("nine")).first_part == ""
    assert read(told, user("nine one three")).first_part == ""
