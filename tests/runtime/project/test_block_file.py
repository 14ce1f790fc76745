"""Ordered blocks: every kind of step, what follows what, and every mistake at its place."""

from typing import cast

import pytest

from runtime.agent import Expect, KeyRule
from runtime.errors import Place
from runtime.project.conditions import parse
from runtime.project.model import MemoryField
from runtime.project.skill_model import (
    ActionStep,
    Block,
    Branch,
    CallStep,
    CollectStep,
    EndStep,
    InstructStep,
    LinkStep,
    NoopStep,
    SetStep,
    ToolStep,
    ValueRef,
)
from tests.runtime.project.skills_read import (
    FILE,
    FRONT,
    block_of,
    check_marks,
    right,
    right_block,
    wrong,
)

END = (Branch("END"),)


def place(line: int) -> Place:
    """Of a step; the first one stands in line 7."""
    return Place(FILE, line, 5)


def collected(keys: str) -> CollectStep:
    """A collect step with these keys."""
    return cast(CollectStep, right_block(f"  - {{collect: {keys}}}").steps[0])


# ------------------------------------------------------------------ steps


def test_every_kind_of_step_is_read():
    """R49: and what follows each when nothing is written is the step below, then END."""
    block = right_block(
        """\
  - instructions: Ask.
    complete_when: session.cards.sure
    optional: true
  - id: ask
    collect: card
    utterance: utter_ask_card
    description: Which one.
    ask_before_filling: true
  - action: utter_done
  - action: action_listen
  - action: hangup
  - action: transfer
    to: card-team
  - execute_tool: lock_card
    parameters: {card: session.cards.card, why: lost, n: 3, deep: [1, a]}
  - noop: true
  - set_memory: {sure: true, cards.amount: 3, project.phone: 007, session.cards.pin: ~}
  - call: main2
  - call: login
  - call: researcher
    exit_if: [session.cards.sure, session.cards.amount > 2]
  - link: login
  - id: END
:::
:::ordered_block id=main2
steps:
  - collect: pin"""
    ).steps
    ids = ["step_1", "ask", *(f"step_{n}" for n in range(3, 14)), "END"]
    assert [step.id for step in block] == ids
    assert [step.next for step in block] == [*((Branch(i),) for i in ids[1:]), ()]
    assert [step.place for step in block] == [place(step.place.line) for step in block]
    instruct, ask, done, listen, hang_up, transfer, tool, noop, written, *rest = block
    assert isinstance(instruct, InstructStep)
    assert (instruct.instructions, instruct.optional) == (("Ask.",), True)
    assert instruct.complete_when == parse("session.cards.sure")
    assert ask == CollectStep(
        id="ask",
        next=(Branch("step_3"),),
        place=place(10),
        namespace="cards",
        field="card",
        utterance="utter_ask_card",
        description="Which one.",
        ask_before_filling=True,
        expect=Expect("choice", choices=("blue", "gold")),
    )
    actions = [cast(ActionStep, step) for step in (done, listen, hang_up, transfer)]
    assert [(a.kind, a.target) for a in actions] == [
        ("utter", "utter_done"),
        ("listen", ""),
        ("hang_up", ""),
        ("transfer", "card-team"),
    ]
    assert isinstance(tool, ToolStep)
    assert tool.tool == "lock_card"
    assert tool.parameters == (
        ("card", ValueRef("cards", "card")),
        ("why", "lost"),
        ("n", 3),
        ("deep", [1, "a"]),
    )
    assert isinstance(noop, NoopStep)
    assert isinstance(written, SetStep)
    assert written.values == (
        (("cards", "sure"), True),
        (("cards", "amount"), 3),
        (("project", "phone"), "007"),
        (("cards", "pin"), None),
    )
    calls, link, end = [cast(CallStep, s) for s in rest[:3]], rest[3], rest[4]
    assert [(c.kind, c.target) for c in calls] == [
        ("block", "main2"),
        ("skill", "login"),
        ("sub_agent", "researcher"),
    ]
    assert calls[2].exit_if == (parse("session.cards.sure"), parse("session.cards.amount > 2"))
    assert isinstance(link, LinkStep)
    assert (link.kind, link.target) == ("skill", "login")
    assert isinstance(end, EndStep)


def test_next_is_a_step_or_branches():
    steps = right_block(
        """\
  - id: a
    collect: card
    next: c
  - id: b
    noop: true
    next:
      - if: session.cards.card == 'blue'
        then: a
      - {if: session.cards.sure, then: END}
      - else: c
  - id: c
    noop: true"""
    ).steps
    assert [step.next for step in steps] == [
        (Branch("c"),),
        (
            Branch("a", parse("session.cards.card == 'blue'")),
            Branch("END", parse("session.cards.sure")),
            Branch("c"),
        ),
        END,
    ]


# ------------------------------------------------------------------ collect


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("card", ("cards", "card")),
        ("cards.card", ("cards", "card")),
        ("session.cards.note", ("cards", "note")),
        ("phone", ("project", "phone")),
        ("project.phone", ("project", "phone")),
    ],
)
def test_what_is_collected_is_the_skills_or_the_projects(name: str, found: tuple[str, str]):
    step = collected(name)
    assert (step.namespace, step.field) == found


@pytest.mark.parametrize(
    ("keys", "expect"),
    [
        ("sure", Expect("yes_no")),
        ("card", Expect("choice", choices=("blue", "gold"))),
        ("amount", Expect()),
        ("pin", Expect()),
        ("pin, dtmf: {length: 4}", Expect("digits", 4)),
        ("amount, dtmf: {finish_on_key: '#'}", Expect("digits")),
        ("sure, dtmf: {length: 1}", Expect("yes_no")),
        ("pin, expect: spelled", Expect("spelled")),
        ("pin, expect: digits, dtmf: {length: 4}", Expect("digits", 4)),
        ("pin, expect: {kind: digits, length: 6}", Expect("digits", 6)),
        ("pin, expect: {kind: digits, length: 6}, dtmf: {length: 4}", Expect("digits", 6)),
        (
            "pin, expect: {kind: choice, choices: [yes, 007]}",
            Expect("choice", None, ("yes", "007")),
        ),
        ("card, expect: choice", Expect("choice", None, ("blue", "gold"))),
        ("pin, utterance: utter_ask_card, expect: choice", Expect("choice")),
        ("card, expect: open", Expect()),
        ("pin, expect: email", Expect("email")),
        ("pin, expect: {kind: date}", Expect("date")),
    ],
)
def test_what_is_expected_is_written_or_follows_from_the_field(keys: str, expect: Expect):
    assert collected(keys).expect == expect


@pytest.mark.parametrize(
    "steps",
    [
        "sure\n    expect: «wrong_type»digits",
        "sure\n    expect: «wrong_type»{kind: email}",
        "amount\n    expect: «wrong_type»yes_no",
        "amount\n    expect: «wrong_type»email",
        "amount\n    expect: «wrong_type»date",
        "card\n    expect: «unknown_value»{kind: choice, choices: [blue, green]}",
        "pin\n    expect: «missing_key»choice",
        "pin\n    expect: {kind: yes_no, «no_effect»length: 4, «no_effect»choices: [a]}",
        "pin\n    expect: {kind: digits, «no_effect»choices: [a]}",
        "pin\n    expect: {kind: open, «no_effect»length: 4}",
    ],
)
def test_what_is_expected_must_be_something_that_the_field_can_hold(steps: str):
    """K10: an answer that is understood and can't be written would be asked for again and again."""
    check_marks(block_of(f"  - collect: {steps}"))


@pytest.mark.parametrize(
    "keys",
    ["sure, expect: yes_no", "sure, expect: open", "amount, expect: digits",
     "amount, expect: {kind: choice, choices: [1, 2]}", "pin, expect: yes_no",
     "card, expect: {kind: choice, choices: [gold]}"],
)  # fmt: skip
def test_what_the_field_can_hold_may_be_expected(keys: str):
    assert collected(keys).expect.kind in keys


def test_a_category_of_digits_or_of_yes_and_no_can_be_asked_for_as_such():
    def of(*values: str) -> tuple[MemoryField, ...]:
        field = MemoryField(namespace="cards", name="card", type="categorical", enum_values=values)
        return (field,)

    right_block("  - {collect: card, expect: digits}", memory=of("1", "22"))
    right_block("  - {collect: card, expect: yes_no}", memory=of("Yes", "no", "later"))


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ("{length: 4}", KeyRule(length=4)),
        ("{finish_on_key: '#'}", KeyRule(finish="#")),
        ("{length: 4, allow_audio_input: false}", KeyRule(length=4, speech_too=False)),
    ],
)
def test_keys_are_complete_by_length_or_by_a_key(keys: str, rule: KeyRule):
    assert collected(f"pin, dtmf: {keys}").keys == rule


# ------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    "steps",
    [
        # what a step is
        "  - «wrong_type»card",
        "  - «bad_step»id: x",
        "  - «bad_step»next: END",
        "  - «unknown_key»colect: card",
        "  - «bad_step»collect: card\n    action: utter_done",
        "  - collect: card\n    «unknown_key»utterence: utter_ask_card",
        "  - action: utter_done\n    «unknown_key»to: team",
        "  - noop: «wrong_type»false",
        "  - noop: «wrong_type»yes",
        # ids and next
        "  - id: a\n    noop: true\n  - id: «duplicate_id»a\n    noop: true",
        "  - noop: true\n  - id: «duplicate_id»step_1\n    noop: true",
        "  - id: «bad_name»a b\n    noop: true",
        "  - id: «wrong_type»[a]\n    noop: true",
        "  - id: END\n  - id: «duplicate_id»END",
        "  - id: ask\n    noop: true\n    next: «unknown_step»aks",
        "  - noop: true\n    next: «empty_text»''",
        "  - noop: true\n    next: «wrong_type»{else: END}",
        "  - noop: true\n    next: «bad_branch»[]",
        "  - noop: true\n    next:\n      «bad_branch»- {if: session.cards.sure, then: END}",
        "  - noop: true\n    next:\n      - else: END\n      - «bad_branch»{else: END}",
        "  - noop: true\n    next:\n      - else: END\n      - "
        "«bad_branch»if: session.cards.sure\n        then: END",
        "  - noop: true\n    next:\n      - «bad_branch»if: session.cards.sure\n        then: END\n"
        "        else: END",
        "  - noop: true\n    next:\n      - if: session.cards.sure\n        then: «unknown_step»x\n"
        "      - else: «unknown_step»y",
        "  - noop: true\n    next:\n      - «missing_key»if: session.cards.sure\n      - else: END",
        "  - noop: true\n    next:\n      - «missing_key»then: END\n      - else: END",
        "  - noop: true\n    next:\n      - if: «bad_condition»''\n        then: END\n"
        "      - else: END".replace("«bad_condition»''", "'«bad_condition»'"),
        "  - noop: true\n    next:\n      - if: «unknown_field»session.cards.x\n        then: END\n"
        "      - else: END",
        "  - noop: true\n    next:\n      - if: session.cards.sure\n        then: END\n"
        "      - else: END\n        «unknown_key»thn: END",
        # instructions
        "  - instructions: «empty_text»''",
        "  - instructions: Ask.\n    complete_when: «unknown_field»session.cards.x",
        "  - instructions: Ask.\n    complete_when: session.cards.amount > «bad_condition»'x'",
        "  - instructions: Ask.\n    optional: «wrong_type»maybe",
        # collect
        "  - collect: «unknown_field»crad",
        "  - collect: «not_writable»login.tries",
        "  - collect: «empty_text»''",
        "  - collect: card\n    utterance: «unknown_response»utter_ask_crad",
        "  - collect: pin\n    dtmf: «bad_dtmf»4",
        "  - collect: pin\n    dtmf: «bad_dtmf»{}",
        "  - collect: pin\n    dtmf: «bad_dtmf»{length: 4, finish_on_key: '#'}",
        "  - collect: pin\n    dtmf: {finish_on_key: «bad_dtmf»'##'}",
        "  - collect: pin\n    dtmf: {length: «out_of_range»0}",
        "  - collect: pin\n    dtmf: {length: 4, «unknown_key»finish: '#'}",
        "  - collect: pin\n    expect: «unknown_value»digit",
        "  - collect: pin\n    expect: {kind: «unknown_value»digit}",
        "  - collect: pin\n    expect: «missing_key»{length: 4}",
        "  - collect: pin\n    expect: {kind: digits, «unknown_key»lenght: 4}",
        # action
        "  - action: «unknown_response»utter_dne",
        "  - action: «unknown_action»hang_up",
        "  - «missing_key»action: transfer",
        # execute_tool
        "  - execute_tool: «unknown_tool»lock_crad",
        "  - execute_tool: lock_card\n    parameters: «wrong_type»[card]",
        "  - execute_tool: lock_card\n    parameters: {card: «unknown_field»session.cards.crad}",
        "  - execute_tool: lock_card\n    parameters: {card: «not_readable»session.login.secret}",
        "  - execute_tool: lock_card\n    parameters: {card: «bad_value»session.card}",
        "  - execute_tool: lock_card\n    parameters: {n: «ambiguous_number»1_000}",
        "  - execute_tool: «missing_parameter»order",
        "  - execute_tool: order\n    parameters: {card: session.cards.card, amount: 2.5}",
        "  - execute_tool: order\n    parameters: {card: session.cards.card, amount: 3,"
        " «unknown_parameter»hwo: fast}",
        "  - execute_tool: «missing_parameter»order\n    parameters: {card: a}",
        "  - execute_tool: lock_card\n    parameters: {card: «wrong_type»session.cards.amount}",
        "  - execute_tool: lock_card\n    parameters: {card: «wrong_type»7, n: «wrong_type»yes,"
        " deep: «wrong_type»x, why: «wrong_type»~}",
        "  - execute_tool: order\n    parameters: {card: a, amount: «wrong_type»true, own: 3}",
        "  - execute_tool: order\n    parameters: {card: a,"
        " amount: «wrong_type»session.cards.sure}",
        "  - execute_tool: order\n    parameters: {card: a, amount: 3, sure: session.cards.sure,"
        " how: «unknown_value»soon}",
        # set_memory
        "  - set_memory: «wrong_type»sure",
        "  - set_memory: «wrong_type»{}",
        "  - set_memory: {«unknown_field»sur: true}",
        "  - set_memory: {«not_writable»login.tries: 1}",
        "  - set_memory: {sure: «wrong_type»yes}",
        "  - set_memory: {card: «wrong_type»red}",
        "  - set_memory: {amount: «wrong_type»'3'}",
        "  - set_memory: {pin: «bad_value»session.cards.note}",
        # a field stands alone as a value
        "  - execute_tool: lock_card\n    parameters: {deep: [«bad_value»session.cards.card]}",
        "  - execute_tool: lock_card\n    parameters: {deep: [{a: «bad_value»session.cards.card}]}",
        "  - execute_tool: lock_card\n    parameters: {why: «bad_value»about session.cards.card}",
        "  - execute_tool: lock_card\n    parameters: {why: «bad_value»'(session.nobody.knows)'}",
        "  - set_memory: {note: «bad_value»the session.cards.card}",
        # call and link
        "  - call: «unknown_target»logn",
        "  - call: login\n    «bad_step»exit_if: [session.cards.sure]",
        "  - call: researcher\n    exit_if: [«unknown_field»session.cards.x]",
        "  - call: researcher\n    exit_if: «bad_condition»[]",
        "  - link: «unknown_target»researcher",
        "  - link: login\n    «no_effect»next: step_1",
        "  - link: login\n    «unknown_key»exit_if: [session.cards.sure]",
    ],
)
def test_mistakes_in_steps(steps: str):
    """K02, K03, K04, K06, K10, K11, K12: each at its character, with what to write instead."""
    check_marks(block_of(steps))


@pytest.mark.parametrize("blank", ['""', '"  "', "", "[]"])
def test_a_blank_condition_in_a_branch_is_an_error(blank: str):
    """K11: the same answer as in the frontmatter."""
    steps = f"  - noop: true\n    next:\n      - if: {blank}\n        then: END\n      - else: END"
    assert [(p.place.line, p.code) for p in wrong(block_of(steps))] == [(9, "bad_condition")]
    steps = f"  - instructions: Ask.\n    complete_when: {blank}"
    assert [(p.place.line, p.code) for p in wrong(block_of(steps))] == [(8, "bad_condition")]


def test_names_get_the_nearest_one():
    steps = "  - id: ask\n    collect: crad\n    next: aks\n  - action: hang_up\n  - call: logn"
    assert [p.mend for p in wrong(block_of(steps))] == [
        "did you mean 'card'?",
        "did you mean 'ask'?",
        "did you mean 'hangup'?",
        "did you mean 'login'?",
    ]


def test_one_mistake_is_one_problem():
    """A step that is wrong does not make others wrong: it can still be gone to."""
    steps = "  - collect: card\n    next: b\n  - id: b\n    «unknown_key»colect: card"
    check_marks(block_of(steps))


@pytest.mark.parametrize(
    ("step", "keys"),
    [
        ("collect: card", "'ask_before_filling', 'collect', 'description', 'dtmf', 'expect'"),
        ("noop: true", "'id', 'next' or 'noop'"),
        ("execute_tool: find_cards", "'execute_tool', 'id', 'next' or 'parameters'"),
        ("action: hangup", "'action', 'id' or 'next'"),
    ],
)
def test_an_unknown_key_gets_the_keys_of_its_kind_of_step(step: str, keys: str):
    """K01: not those of all kinds, which can't stand together."""
    (problem,) = wrong(block_of(f"  - {step}\n    zzz: 1"))
    assert (problem.code, problem.message) == ("unknown_key", "unknown key 'step.zzz'")
    assert problem.mend.startswith("known here: ")
    assert keys in problem.mend
    assert "'set_memory'" not in problem.mend and "'id'" in problem.mend


def test_what_is_unknown_is_not_complained_about():
    steps = (
        "  - collect: x\n    utterance: utter_x\n  - execute_tool: t\n    parameters: "
        "{a: session.x.y}\n  - action: utter_y\n  - set_memory: {z: 1}"
    )
    right_block(steps, memory=None, tools=None, responses=None)


# ------------------------------------------------------------------ circles


def blocks(**written: str) -> str:
    """A skill with prose and these blocks; each step in a line of its own."""
    text = "".join(
        f":::ordered_block id={name}\nsteps:\n{steps}\n:::\n" for name, steps in written.items()
    )
    return f"{FRONT}Help.\n\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        blocks(a="  - «endless_circle»call: a"),
        blocks(a="  - «endless_circle»link: a"),
        blocks(a="  - «endless_circle»call: b", b="  - link: a"),
        blocks(a="  - «endless_circle»noop: true\n  - call: b", b="  - noop: true\n  - link: a"),
        blocks(
            a="  - execute_tool: lock_card\n    next: [{if: session.cards.sure, then: END}, "
            "{else: b}]\n  - id: END\n  - «endless_circle»id: b\n    link: a"
        ),
        blocks(a="  - «endless_circle»id: x\n    noop: true\n    next: x"),
        blocks(a="  - «endless_circle»id: x\n    action: utter_done\n  - noop: true\n    next: x"),
        blocks(a="  - «endless_circle»id: x\n    call: b\n    next: x", b="  - noop: true"),
    ],
)
def test_circles_in_which_nothing_waits(text: str):
    check_marks(text)


@pytest.mark.parametrize(
    "text",
    [
        blocks(a="  - collect: card\n  - call: a"),
        blocks(a="  - instructions: Ask.\n  - link: b", b="  - link: a"),
        blocks(a="  - action: action_listen\n  - link: a"),
        blocks(a="  - call: login\n  - link: a"),
        blocks(a="  - action: hangup\n  - link: a"),
        blocks(a="  - id: x\n    collect: card\n    next: x"),
        blocks(a="  - id: x\n    call: b\n    next: x", b="  - collect: card"),
        blocks(a="  - call: b\n  - call: b", b="  - noop: true"),
        blocks(
            a="  - id: x\n    execute_tool: lock_card\n    next: [{if: session.cards.sure, then: "
            "END}, {else: x}]"
        ),
    ],
)
def test_circles_that_wait_or_can_be_left(text: str):
    right(text)


def test_a_block_finds_its_steps():
    block = right_block("  - id: a\n    noop: true\n  - noop: true")
    assert isinstance(block, Block)
    first = block.step("a")
    assert first is not None
    assert first.place == place(7)
    assert block.step("END") is None


@pytest.mark.parametrize(
    "steps",
    [
        "  - execute_tool: find_cards\n    parameters: {}",
        "  - link: login\n    next: END",
        "  - noop: true\n  - id: END\n    noop: true",
        "  - collect: card\n    expect: spelled",
        "  - collect: pin\n    description: Which of them?\n    expect: choice",
    ],
)
def test_what_is_only_written_out_is_no_mistake(steps: str):
    right_block(steps)


def test_a_circle_through_a_call_may_be_left_by_a_condition():
    """Section 5: what is tried again until a value is there."""
    block = ":::ordered_block id=main\nsteps:\n  - id: one\n    call: attempt\n    next:\n"
    block += "      - {if: session.cards.sure, then: END}\n      - {else: one}\n:::\n"
    block += "\n:::ordered_block id=attempt\nsteps:\n  - execute_tool: find_cards\n:::\n"
    right(FRONT + block)
