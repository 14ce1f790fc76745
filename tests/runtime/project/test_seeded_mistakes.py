"""One project with mistakes in every corner: each is found at its line, nothing else is said."""

from pathlib import Path

from tests.runtime.project.projects import problems, project

# In the seeded files a line ends with '#! code' (or several) for each problem expected on it.

RIGHT: dict[str, str | bytes | None] = {
    "agent.yml": """\
agent:
  persona: You are the bank.
rules: [Be short.]
conversation: {before_end: [feedback]}
orchestrator:
  model_group: main
  preconditions:
    login: {satisfied_when: session.project.authenticated, resolve_with: identify}
""",
    "integrations.yml": """\
model_groups:
  - id: main
    models: [{provider: scripted}]
""",
    "memory.yml": """\
authenticated: {type: bool}
phone: {type: text, seed: true}
""",
    "responses.yml": """\
responses:
  utter_done: Done, {session.project.phone}.
  utter_sorry: [Sorry.]
""",
    "references/hours.md": "# Hours\n\nWe are open from nine to five.\n",
    "tools/messages.py": """\
from runtime import ToolContext, ToolResult, tool

@tool(description="Send a message.")
async def notify(text: str, context: ToolContext) -> ToolResult:
    context.memory.set("project.authenticated", True)
    return ToolResult()
""",
    "skills/desk/skill.md": None,
    "skills/identify/skill.md": """\
---
name: Identify
description: Check who is calling.
---
:::ordered_block id=ask
steps:
  - collect: pin
    utterance: utter_ask_pin
  - set_memory: {project.authenticated: true}
:::
""",
    "skills/identify/memory.yml": "schema: {public: {pin: {type: text, pii: true}}}\n",
    "skills/identify/responses.yml": "responses: {utter_ask_pin: Your PIN?}\n",
    "skills/feedback/skill.md": "---\nname: Feedback\ndescription: Ask how it was.\n---\nAsk.\n",
    "skills/cards/skill.md": """\
---
name: Cards
description: Replace a card.
precondition: login
import_tools: [notify]
tool_constraints:
  - lock_card:
      requires: session.cards.card
      on_success: utter_done
---
Ask which card, then call @tool.lock_card. If they want to pick, use @block.pick.

:::ordered_block id=pick
steps:
  - id: ask
    collect: card
    utterance: utter_ask_card
    next:
      - if: session.cards.card == "blue"
        then: lock
      - else: END
  - id: lock
    execute_tool: lock_card
  - id: END
:::
""",
    "skills/cards/memory.yml": """\
schema:
  public:
    card: {type: categorical, enum_values: [blue, gold]}
  private:
    note: {type: text, llm_settable: true}
""",
    "skills/cards/responses.yml": """\
responses:
  utter_ask_card:
    - text: Which card?
      buttons: {source: cards_on_file}
""",
    "skills/cards/tools.py": """\
from runtime import Button, ToolContext, ToolResult, tool

@tool(description="Lock it.")
async def lock_card(context: ToolContext) -> ToolResult:
    context.memory.set("note", "locked")
    return ToolResult()

@tool(description="The cards.")
async def cards_on_file(context: ToolContext) -> ToolResult:
    context.set_buttons([Button("Blue", "blue")])
    return ToolResult()

@tool(description="Check it.")
async def run_after_setting_note(context: ToolContext) -> ToolResult:
    context.memory.set("project.phone", "1")
    return ToolResult()
""",
}

SEEDED: dict[str, str | bytes | None] = {
    "agent.yml": """\
agent:
  persona: You are the bank.
  langauge: en                        #! unknown_key
rules: [Be short.]
fillers: {after: soon}                #! wrong_type
tool_timeout: 0                       #! out_of_range
conversation: {before_end: [feedbak]} #! unknown_skill
orchestrator:
  model_group: mian                   #! unknown_model_group
  preconditions:
    login:
      satisfied_when: session.project.authentcated  #! unknown_field
      resolve_with: idenify           #! unknown_skill
""",
    "integrations.yml": """\
model_groups:
  - id: main
    models:
      - provider: openai
        model: gpt
        api_key: sk-1234567           #! literal_secret
  - id: main                          #! duplicate_id
    models: [{provider: opanai}]      #! unknown_value
channels:
  voice: {silence_timeout: 1:30}      #! wrong_type
""",
    "memory.yml": """\
authenticated: {type: bool, initial_value: yes}  #! wrong_type
phone: {type: text, seed: true}
phone: {type: text}                   #! duplicate_key
limit: {type: int, llm_settable: true}  #! not_settable
size: {type: txt}                     #! unknown_value
""",
    "responses.yml": """\
responses:
  utter_done: Done, {session.project.phnoe}.  #! unknown_field
  utter_sorry: [Sorry.]
  utter_pick:
    - text: Pick.
      buttons: {source: cards_on_fiel}  #! unknown_tool
  utter_when:
    - text: One.
      condition: session.project.phone ==  #! bad_condition
    - Two.
""",
    "tools/messages.py": """\
from runtime import ToolContext, ToolResult, tool

@tool(description="Send a message.")
async def notify(text: str, context: ToolContext) -> ToolResult:
    context.memory.set("project.authenticatd", True)  #! undeclared_memory_write
    context.memory.set("note", "sent")
    return ToolResult()
""",
    "skills/desk/skill.md": None,
    "skills/identify/memory.yml": "schema: {public: {pin: {type: text, pii: true}}}\n",
    "skills/identify/responses.yml": "responses: {utter_ask_pin: Your PIN?}\n",
    "skills/identify/skill.md": """\
---
name: Identify
description: Check who is calling.
hiden: true                           #! unknown_key
requires: ""                          #! bad_condition
---
:::ordered_block id=ask
steps:
  - collect: pni                      #! unknown_field
    utterance: utter_ask_pin
  - id: twice
    noop: true
  - id: twice                         #! duplicate_id
    noop: true
    next: nowhere                     #! unknown_step
:::
""",
    "skills/feedback/skill.md": "name: Feedback\n",
    "skills/cards/skill.md": """\
---
name: Cards
description:
precondition: logni                   #! unknown_precondition
import_tools:
  - notify
  - notfy                             #! unknown_tool
  - mcp/crm:find                      #! unknown_server
tool_constraints:
  - lock_card:
      requires: session.identify.pni  #! unknown_field
      on_success: utter_don           #! unknown_response
  - lock_crad:                        #! unknown_tool
      requires: session.cards.card
---
Ask which card, then call @tool.lock_crd, or @block.pcik, or @skill.identfy.

:::ordered_block id=pick
steps:
  - id: ask
    collect: card
    utterance: utter_ask_card
    next:
      - if: session.cards.card == "blue"
        then: lock
      - else: END
  - id: lock
    execute_tool: lock_cadr           #! unknown_tool
  - id: END
:::
""",
    "skills/cards/memory.yml": """\
schema:
  public:
    card: {type: categorical}         #! missing_key
  private:
    note: {type: text, llm_settable: maybe}  #! wrong_type
""",
    "skills/cards/responses.yml": """\
responses:
  utter_ask_card:
    - text: Which card?
      buttons: {source: cards_on_file}
""",
    "skills/cards/tools.py": """\
from runtime import Button, ToolContext, ToolResult, tool

@tool(description="Lock it.")
async def lock_card(context: ToolContext) -> ToolResult:
    context.memory.set("nota", "locked")        #! undeclared_memory_write
    context.memory.set("identify.pin", "0000")  #! undeclared_memory_write
    context.memory.set("system.x", 1)           #! undeclared_memory_write
    return ToolResult()

@tool(description="The cards.")
async def cards_on_file(context: ToolContext) -> ToolResult:
    context.set_buttons([Button("Blue", "blue")])
    return ToolResult()

@tool(description="Check it.")  #! hook_on_project_field
async def run_after_setting_phone(context: ToolContext) -> ToolResult:
    return ToolResult()

@tool(description="Check it.")  #! unknown_hook_field
async def run_after_setting_nope(context: ToolContext) -> ToolResult:
    return ToolResult()
""",
    "skills/card-two/skill.md": "---\nname: Two\ndescription: Two.\n---\nTwo.\n",
}

ELSEWHERE = [
    # where a mark can't stand: folders, and lines that the mark would change
    ("skills/card-two", 0, "bad_name"),
    ("skills/feedback/skill.md", 1, "frontmatter"),
    ("skills/cards/skill.md", 3, "empty_text"),
    ("skills/cards/skill.md", 16, "unknown_tool"),
    ("skills/cards/skill.md", 16, "unknown_block"),
    ("skills/cards/skill.md", 16, "unknown_skill"),
]


def _marked() -> list[tuple[str, int, str]]:
    """What the marks in the seeded files announce."""
    return [
        (name, number, code)
        for name, text in SEEDED.items()
        if isinstance(text, str)
        for number, line in enumerate(text.split("\n"), 1)
        for code in line.partition("#!")[2].split()
    ]


def test_the_project_without_mistakes_is_clean(tmp_path: Path):
    """What is seeded below is the only thing wrong there."""
    loaded = project(tmp_path, RIGHT)
    assert loaded.warnings == ()
    assert {"cards", "feedback", "identify"} <= set(loaded.skills)


def test_every_seeded_mistake_is_found_at_its_line_and_nothing_else(tmp_path: Path):
    """R12, R31, R53, C14, K06, K10, K11: all files, one load."""
    found = problems(tmp_path, SEEDED)
    expected = [*_marked(), *ELSEWHERE]
    assert len(expected) >= 30
    assert sorted((p.place.file, p.place.line, p.code) for p in found) == sorted(expected)


def test_each_says_what_to_write_instead(tmp_path: Path):
    """Errors name the place and the mend."""
    found = problems(tmp_path, SEEDED)
    assert [str(p) for p in found if not p.mend] == []
    assert not any("sk-1234567" in f"{p}{p.excerpt}" for p in found)
