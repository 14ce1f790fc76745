"""skill.md: frontmatter, paragraphs, tokens, where blocks stand, and every mistake at its place."""

import pytest

from runtime.errors import Place
from runtime.project.conditions import parse
from runtime.project.problems import Problems
from runtime.project.skill_file import KnownThings, finish, read_skill
from runtime.project.skill_model import (
    Access,
    BlockToken,
    CompleteWhen,
    Confirmation,
    InstructStep,
    MemoryToken,
    Skill,
    SkillToken,
    ToolConstraint,
    ToolToken,
    UtterRule,
)
from tests.runtime.project.skills_read import FILE, FRONT, check_marks, read, right, wrong

WHOLE = """\
---
name: Cards
description: Replace a card.
requires: session.project.authenticated == True
precondition: signed_in
hidden: true
disabled: true
complete_when:
  condition: session.cards.sure
  criteria: [The card is on its way., The caller knows the date.]
import_tools: [notify, "mcp/crm:find", "provider/google:search"]
tool_constraints:
  - lock_card:
      requires: session.cards.card
      requires_confirmation:
        enabled: true
        utter_for_confirmation: utter_sure
        utter_on_user_denial: utter_no
      on_success: utter_done
      on_failure: utter_no
  - find_cards:
      requires_confirmation: {}
utter:
  - utter_ask_card: {on: activate}
  - utter_done: {when: session.cards.sure == True}
access:
  deny_read: [phone, login.tries]
  deny_write: [project.phone, session.cards.pin]
routing:
  engine_managed: true
  examples: [I lost my card, no]
---

Ask which card.
"""


def body(text: str) -> str:
    """A skill.md with this body, which begins at line 5."""
    return FRONT + text


def front(keys: str) -> str:
    """A skill.md with these keys, which begin at line 4."""
    return f"---\nname: Cards\ndescription: Replace a card.\n{keys}\n---\nHelp.\n"


# ------------------------------------------------------------------ frontmatter


def test_every_key_of_the_frontmatter_is_read():
    """R12, R13, C3, C5, C7, C11, M2, M3."""
    skill = right(WHOLE)
    lock = ToolConstraint(
        tool="lock_card",
        requires=parse("session.cards.card"),
        confirmation=Confirmation("utter_sure", "utter_no"),
        on_success="utter_done",
        on_failure="utter_no",
        place=Place(FILE, 13, 5),
    )
    assert skill == Skill(
        id="cards",
        name="Cards",
        description="Replace a card.",
        prose=skill.prose,
        requires=parse("session.project.authenticated == True"),
        precondition="signed_in",
        hidden=True,
        disabled=True,
        complete_when=CompleteWhen(
            parse("session.cards.sure"),
            ("The card is on its way.", "The caller knows the date."),
        ),
        constraints={
            "lock_card": lock,
            "find_cards": ToolConstraint("find_cards", place=Place(FILE, 21, 5)),
        },
        utters=(
            UtterRule("utter_ask_card", on_activate=True),
            UtterRule("utter_done", when=parse("session.cards.sure == True")),
        ),
        access=Access(
            frozenset({"project.phone", "login.tries"}),
            frozenset({"project.phone", "cards.pin"}),
        ),
        engine_managed=True,
        imports=("notify", "mcp/crm:find", "provider/google:search"),
        examples=("I lost my card", "no"),
        place=Place(FILE, 34, 1),
    )


def test_confirmation_is_off_unless_enabled():
    """C4."""
    keys = "tool_constraints: [{lock_card: {requires_confirmation: {enabled: false}}}]"
    assert right(front(keys)).constraints["lock_card"].confirmation is None
    keys = "tool_constraints: [{lock_card: {requires_confirmation: {enabled: true}}}]"
    assert right(front(keys)).constraints["lock_card"].confirmation == Confirmation()


def test_complete_when_may_be_a_condition_alone():
    found = right(front("complete_when: session.cards.sure")).complete_when
    assert found == CompleteWhen(parse("session.cards.sure"))


@pytest.mark.parametrize(
    "keys",
    [
        "«unknown_key»requries: session.cards.card",
        "hidden: «wrong_type»maybe",
        "routing: {«unknown_key»engine_manged: true}",
        "precondition: «unknown_precondition»signd_in",
        "import_tools:\n  - notify\n  - «bad_import»mcp/crm",
        "import_tools:\n  - «bad_import»provider/x\n  - «bad_import»mcp/:t",
        "tool_constraints: «wrong_type»{lock_card: {}}",
        "tool_constraints: [«wrong_type»lock_card]",
        "tool_constraints:\n  - «wrong_type»lock_card:\n    requires: session.cards.card",
        "tool_constraints:\n  - «unknown_tool»lock_crad: {}",
        "tool_constraints:\n  - lock_card: {}\n  - «duplicate_key»lock_card: {}",
        "tool_constraints: [{lock_card: {«unknown_key»require: session.cards.card}}]",
        "tool_constraints: [{lock_card: {requires_confirmation: «wrong_type»true}}]",
        "tool_constraints: [{lock_card: {requires_confirmation: {«unknown_key»enable: true}}}]",
        "tool_constraints: [{lock_card: {on_success: «unknown_response»utter_don}}]",
        "tool_constraints: [{lock_card: {on_failure: «unknown_response»utter_don}}]",
        "tool_constraints: [{lock_card: {requires_confirmation: {enabled: true, "
        "utter_for_confirmation: «unknown_response»utter_sur}}}]",
        "tool_constraints: [{lock_card: {requires_confirmation: {enabled: false, "
        "utter_on_user_denial: «unknown_response»nope}}}]",
        "tool_constraints: [{«no_effect»lock_card: }]",
        "«no_effect»complete_when: {}",
        "«no_effect»complete_when: {criteria: []}",
        "utter: [{«missing_key»utter_done: {}}, {«missing_key»utter_done: {}}]",
        "tool_constraints: [{lock_card: {}}, {«duplicate_key»lock_card: }]",
        "utter: [{utter_done: {on: activate}}, {«duplicate_value»utter_done: {on: activate}}]",
        "utter: [{utter_done: {when: session.cards.sure}}, {utter_done: {on: activate}}, "
        "{«duplicate_value»utter_done: {when: session.cards.sure}}]",
        "utter: «wrong_type»utter_done",
        "utter: [«wrong_type»utter_done]",
        "utter: [{«missing_key»utter_done: {}}]",
        "utter: [{utter_done: {on: «unknown_value»start}}]",
        "utter: [{«unknown_response»utter_dne: {on: activate}}]",
        "utter: [{utter_done: {when: «unknown_field»session.cards.sur}}]",
        "access: {deny_read: [«unknown_field»phnoe, «unknown_field»login.secret]}",
        "access: {deny_write: [«unknown_field»cards.nope], «unknown_key»deny: []}",
        "complete_when: {«unknown_key»criterion: [x]}",
    ],
)
def test_mistakes_in_the_frontmatter(keys: str):
    check_marks(front(keys))


@pytest.mark.parametrize("blank", ['""', '"  "', "", "[]", "{}", "[session.cards.card]"])
@pytest.mark.parametrize(
    "site",
    [
        "requires: {}",
        "complete_when: {}",
        "complete_when: {{condition: {}}}",
        "tool_constraints: [{{lock_card: {{requires: {}}}}}]",
        "utter: [{{utter_done: {{when: {}}}}}]",
    ],
)
def test_a_blank_condition_is_an_error_at_every_site(site: str, blank: str):
    """K11: a skill, its completion, a tool, a response."""
    if site == "complete_when: {}" and blank == "{}":
        blank = "{condition: }"  # a block of keys is the other form
    found = wrong(front(site.format(blank)))
    assert [(p.place.line, p.code) for p in found] == [(4, "bad_condition")]


@pytest.mark.parametrize(
    ("condition", "code", "word"),
    [
        ("session.cards.crad", "unknown_field", "session.cards.card"),
        ("session.logn.tries", "unknown_field", "session.login.tries"),
        ("session.login.secret", "not_readable", "public"),
        ("session.system.silence", "unknown_field", "silence_n"),
        ("session.cards.amount == 'x'", "bad_condition", "number"),
        ("session.cards.card == 'blu'", "bad_condition", "'blue'"),
        ("session.cards.amount = 1", "bad_condition", "=="),
        ("'{{amount}}' and amount > 1", "bad_condition", "session."),
    ],
)
def test_conditions_name_what_the_skill_can_read(condition: str, code: str, word: str):
    """C3, C13, C16, K10, K12."""
    found = wrong(front(f'requires: "{condition}"'))
    assert [(p.place.line, p.code) for p in found] == [(4, code)]
    assert word in f"{found[0].message} {found[0].mend}"


def test_a_condition_points_at_its_character():
    check_marks(front("requires: session.cards.card and «bad_condition»amount > 1"))
    check_marks(front("requires: 'session.cards.card and «unknown_field»session.cards.nope'"))
    check_marks(front("requires: session.cards.amount == «bad_condition»'x'"))


def test_what_is_denied_can_not_be_read_in_a_condition():
    """M2: deny_read holds for conditions as well."""
    keys = "access: {deny_read: [phone]}\nrequires: «not_readable»session.project.phone"
    check_marks(front(keys))


def test_own_private_and_engine_values_are_readable():
    """C16."""
    right(front("requires: session.cards.note and session.login.tries and session.project.phone"))
    right(front("requires: session.system.channel == 'voice' and session.system.silence_n < 2"))


def test_what_is_unknown_is_not_complained_about():
    text = front(
        "requires: session.x.y\ntool_constraints: [{nope: {on_success: nope}}]\nprecondition: p"
    )
    text += "\n@tool.nope and @memory.a.b.\n"
    right(text, memory=None, tools=None, responses=None, preconditions=None)


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("name: Cards\n", (1, 1), "frontmatter"),
        ("", (1, 1), "frontmatter"),
        ("\n---\nname: x\n---\n", (1, 1), "frontmatter"),
        ("---\nname: Cards\n", (1, 1), "frontmatter"),
        ("---\nname: [\n---\nHelp.\n", (2, 7), "yaml_unclosed"),
    ],
)
def test_a_frontmatter_that_is_none(text: str, place: tuple[int, int], code: str):
    _, found = read(text)
    assert [(p.place.line, p.place.column) for p in found] == [place] or code.startswith("yaml")
    assert all(p.code == code or p.code.startswith("yaml") for p in found)
    assert len(found) == 1


def test_name_and_description_are_required():
    found = wrong("---\nhidden: true\n---\nHelp.\n")
    assert [p.code for p in found] == ["missing_key", "missing_key"]


# ------------------------------------------------------------------ prose


def test_paragraphs_are_split_at_blank_lines_and_not_within_code():
    text = "One\nline.\n\n\n```\na\n\n:::not a block\n```\nstill.\n   \n~~~~ x\n```\n\n~~~~\n"
    found = right(body(text)).prose
    assert [p.parts for p in found] == [
        ("One\nline.",),
        ("```\na\n\n:::not a block\n```\nstill.",),
        ("~~~~ x\n```\n\n~~~~",),
    ]
    assert [p.place.line for p in found] == [5, 9, 16]


def test_a_paragraph_may_have_a_condition():
    found = right(body("if: session.cards.card == 'blue'\nSay it is blue.\nOr so.\n\nif we can.\n"))
    assert found.prose[0].condition == parse("session.cards.card == 'blue'")
    assert found.prose[0].parts == ("Say it is blue.\nOr so.",)
    assert found.prose[1].condition is None
    assert found.prose[1].parts == ("if we can.",)


def test_tokens_become_parts():
    text = (
        "Call @tool.lock_card, then @block.pick.\nOr (@skill.login) with "
        "@memory.cards.note, @memory.project.phone.\n\n"
        ":::ordered_block id=pick\nsteps:\n  - noop: true\n:::\n"
    )
    assert right(body(text)).prose[0].parts == (
        "Call ",
        ToolToken("lock_card"),
        ", then ",
        BlockToken("pick"),
        ".\nOr (",
        SkillToken("login"),
        ") with ",
        MemoryToken("cards", "note"),
        ", ",
        MemoryToken("project", "phone"),
        ".",
    )


def test_addresses_and_doubled_signs_are_no_tokens():
    text = "Write to a@block.example, @acme.support or x.@tool.y; say @@tool.lock_card."
    assert right(body(text)).prose[0].parts == (
        "Write to a@block.example, @acme.support or x.@tool.y; say @tool.lock_card.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Call «bad_token»@tool now.",
        "Call «bad_token»@tool. Then",
        "Call «bad_token»@tool.a.b now, then «bad_token»@block.a.b.",
        "Call «bad_token»@tools.lock_card, «bad_token»@Tool.lock_card.",
        "Call «bad_token»@tol.lock_card, «bad_token»@blok.a and «bad_token»@skil.login.",
        "Say «bad_token»@memeory.cards.card, «bad_token»@mem.cards.card, «bad_token»@memry.a.b.",
        "Say «bad_token»@session.cards.card or «bad_token»@Session.cards.card.",
        "Say «bad_token»@memory.card and «bad_token»@memory.cards.card.x.",
        "One.\nCall «unknown_tool»@tool.lock_crad or @tool.lock_card.",
        "One.\n\nGo to «unknown_block»@block.pick, «unknown_skill»@skill.logn.",
        "Say «unknown_field»@memory.cards.crad, «not_readable»@memory.login.secret.",
        "Say «unknown_field»@memory.system.channel.",
        "When «bad_token»session.cards.card is set, or `«bad_token»session.x`.",
        "if: session.cards.card «bad_condition»=\nSay it.",
        "if: session.cards.card and «unknown_field»session.cards.nope\nSay it.",
        "if:«bad_condition»\nSay it.",
        "if: True an«bad_condition»d\nSay it.",
        "«empty_text»if: session.cards.card\n\nSay it.",
        "Text.\n\n«bad_fence»```\ncode\n\n@tool.lock_card\n",
    ],
)
def test_mistakes_in_prose(text: str):
    """K10: at the character, with what to write instead."""
    check_marks(body(text))


def test_unknown_names_get_the_nearest_one():
    found = wrong(body("@tool.lock_crad @skill.logn @memory.cards.crad"))
    assert [p.mend for p in found] == [
        "did you mean 'lock_card'?",
        "did you mean 'login'?",
        "did you mean 'session.cards.card'?",
    ]


# ------------------------------------------------------------------ where blocks stand

STEPS = "steps:\n  - noop: true\n"


def test_prose_and_blocks_stand_side_by_side():
    text = (
        f"Help.\n:::ordered_block id=a\n{STEPS}:::\nMore.\n\n::: ordered_block id='b'\n{STEPS}:::\n"
    )
    skill = right(body(text))
    assert [p.parts for p in skill.prose] == [("Help.",), ("More.",)]
    assert [(b.id, b.place.line) for b in skill.blocks] == [("a", 6), ("b", 12)]
    assert skill.entry_block is None


@pytest.mark.parametrize(
    "text",
    [
        f"Help.\n\n«bad_block»:::ordered_block id=a\n{STEPS}",
        f"Help.\n\n«bad_block»:::ordered_block id=a\n{STEPS}\n:::ordered_block id=b\n{STEPS}:::\n",
        f"Help.\n\n  «bad_block»:::ordred_block id=a\n{STEPS}:::\n",
        f"Help.\n\n«bad_block»:::ordered_block\n{STEPS}:::\n",
        f"Help.\n\n«bad_block»:::ordered_block id=a-b\n{STEPS}:::\n",
        f"Help.\n\n«bad_block»:::ordered_block id=a kind=b\n{STEPS}:::\n",
        "Help.\n\n«bad_block»:::\nMore.\n",
        f":::ordered_block id=a\n{STEPS}:::\n\n«duplicate_id»:::ordered_block id=a\n{STEPS}:::\n",
        "«empty_block»:::ordered_block id=a\n:::\n",
        "«empty_block»:::ordered_block id=a\nsteps:\n:::\n",
        ":::ordered_block id=a\nsteps: «wrong_type»ask\n:::\n",
        f":::ordered_block id=a\n«unknown_key»step: 1\n{STEPS}:::\n",
        f"«entry_block»:::ordered_block id=a\n{STEPS}:::\n:::ordered_block id=b\n{STEPS}:::\n",
    ],
)
def test_mistakes_around_blocks(text: str):
    check_marks(body(text))


def test_a_skill_is_something():
    found = wrong(FRONT)
    assert [(p.place.line, p.code) for p in found] == [(4, "empty_text")]


def test_the_entry_block_is_the_one_that_no_other_names():
    text = (
        ":::ordered_block id=a\nsteps:\n  - collect: card\n  - link: a\n:::\n"
        ":::ordered_block id=b\nsteps:\n  - call: a\n:::\n"
    )
    entry = right(body(text)).entry_block
    assert entry is not None
    assert entry.id == "b"


def test_all_blocks_naming_each_other_have_no_entry():
    text = (
        "«entry_block»:::ordered_block id=a\nsteps:\n  - collect: card\n  - link: b\n:::\n"
        ":::ordered_block id=b\nsteps:\n  - collect: pin\n  - call: a\n:::\n"
    )
    check_marks(body(text))


def test_yaml_in_a_block_is_complained_about_at_its_line_of_the_file():
    _, found = read(body("Help.\n\n:::ordered_block id=a\nsteps:\n  - id: x\n\tnoop: true\n:::\n"))
    assert [p.place.line for p in found] == [10]
    assert found[0].code.startswith("yaml")


def test_tokens_in_instructions_are_placed_where_they_are_written():
    text = (
        ":::ordered_block id=a\nsteps:\n"
        "  - instructions: |\n      Ask.\n\n"
        "      Call @tool.lock_card or «unknown_tool»@tool.lock_crad.\n"
        "  - instructions: >\n      One\n      «bad_token»@tool\n"
        "      two «unknown_block»@block.x.\n"
        "  - instructions: 'Say «bad_token»session.cards.card.'\n"
        ":::\n"
    )
    check_marks(body(text))


def test_instructions_have_tokens():
    text = ":::ordered_block id=a\nsteps:\n  - instructions: Call @tool.lock_card.\n:::\n"
    step = right(body(text)).blocks[0].steps[0]
    assert isinstance(step, InstructStep)
    assert step.instructions == ("Call ", ToolToken("lock_card"), ".")


def test_variables_are_expanded_in_the_yaml_parts():
    problems = Problems()
    text = "---\nname: ${WHO}\ndescription: x\n---\nPay ${WHO}.\n"
    draft = read_skill(text.encode(), FILE, "cards", {"WHO": "Ann"}, problems)
    skill = finish(draft, KnownThings(), problems)
    assert (skill.name, skill.prose[0].parts) == ("Ann", ("Pay ${WHO}.",))


def test_windows_line_ends_and_a_mark_at_the_beginning_are_fine():
    """K09: BOM and CRLF."""
    skill = right("\ufeff" + WHOLE.replace("\n", "\r\n"))
    assert skill.name == "Cards"
    assert skill.prose[0].parts == ("Ask which card.",)


def test_decomposed_letters_are_read_as_composed_ones():
    """K15."""
    assert right(body("Gru\u0308n\n")).prose[0].parts == ("Grün",)


def test_a_word_that_only_looks_like_a_token_can_be_written_twice_at():
    """The mend says so, since nobody else's name may be taken for ours."""
    (problem,) = wrong(front("requires: True").replace("Help.", "Follow @tol.x."))
    assert problem.mend == "write @tool.<name>; '@@tol.x' for these words themselves"
    text = front("requires: True").replace("Help.", "Follow @@tol.x, @anna.b, @me and a@tol.x.")
    assert right(text).prose[0].parts == ("Follow @tol.x, @anna.b, @me and a@tol.x.",)


def test_only_a_packaged_skill_is_started_by_the_engine():
    """One that nothing starts would never run."""
    keys = front("routing: {«misplaced_key»engine_managed: true}")
    (problem,) = check_marks(keys, packaged=("default_completed",))
    assert "hidden: true" in problem.mend
    own = front("routing: {engine_managed: true}")
    assert right(own, packaged=("cards",)).engine_managed
    assert not right(front("routing: {engine_managed: false}"), packaged=()).engine_managed
