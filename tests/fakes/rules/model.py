"""A chat model that follows a rules file: the same words always get the same answer, with no key.

Owns matching (patterns first, then likeness to examples) and the filling of texts and arguments.
It keeps nothing between requests: what was asked, looked up and cut off is read from the messages.
The file is read by ``file``. For tests that need an agent whose every answer is known.
"""

import json
import unicodedata
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from rapidfuzz import fuzz

from runtime.agent import Json
from runtime.conversation.events import ToolOutcome
from runtime.conversation.prompt_history import INTERRUPTED_MARK, STILL_RUNNING
from runtime.errors import ProjectError
from runtime.models.ports import (
    CallAsked,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
    ToolSpec,
)
from runtime.project.problems import Problems
from runtime.project.yaml_source import MAX_BYTES
from tests.fakes.rules.file import After, Call, Outcome, Rule, RuleBook, read_rules
from tests.fakes.rules.text import Template, dig

_MAX_INPUT = 1000
_PACKAGED: dict[Outcome, str] = {
    "ok": "That is done.",
    "failed": "I'm sorry, that did not work.",
    "timed_out": "I'm sorry, that is taking too long. Shall I try again?",
    "cancelled": "I stopped that.",
    "unknown": "I'm sorry, I can't tell whether that went through.",
    "still_running": "I'm still working on that.",
}


@dataclass(frozen=True, slots=True)
class _Reply:
    """What to stream."""

    text: str
    call: RequestedCall | None = None


@dataclass(frozen=True, slots=True)
class _Settled:
    """A tool's result as it stands in the messages."""

    tool: str
    outcome: Outcome
    result: Json


class RulesModel(ChatModel):
    """Answers from a ``RuleBook``."""

    def __init__(self, book: RuleBook) -> None:
        """Use ``book``, which was checked when it was read."""
        self._book = book
        self._examples = [(rule, [_plain(e) for e in rule.examples]) for rule in book.rules]
        self._repeat = [_plain(example) for example in book.repeat]

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Stream the reply word by word; never raises."""
        reply = self.reply(request)
        words = reply.text.split(" ") if reply.text else []
        for index, word in enumerate(words):
            yield TextDelta(word if index == 0 else f" {word}")
        if reply.call is not None:
            yield CallAsked(reply.call)
        yield Finished("calls" if reply.call is not None else "stop")

    async def aclose(self) -> None:
        """There is nothing to release."""

    # ---------------------------------------------------------------- deciding

    def reply(self, request: ChatRequest) -> _Reply:
        """Decide on the whole answer."""
        moment = _Moment(request)
        if moment.fresh:
            return self._after_tools(moment)
        if not moment.said:
            return _Reply("")
        if self._is_repeat(moment.said):
            again = self._again(moment)
            if again:
                return _Reply(again)
        for rule, groups in self._matching(moment):
            reply = _perform(rule, moment, groups)
            if reply is not None:
                return reply
        return _perform(self._book.otherwise, moment, {}) or _Reply("")

    def _after_tools(self, moment: "_Moment") -> _Reply:
        texts: list[str] = []
        for settled in moment.fresh:
            after = self._after(settled)
            lookup = _lookup_result(settled.result)
            text = moment.pick(after.say, lookup) if after else None
            if after is not None and after.call is not None and not texts:
                call = _asked(after.call, moment, lookup)
                if call is not None:
                    return _Reply(text or "", call)
            if text is None and (after is None or after.say):
                text = _PACKAGED[settled.outcome]
            texts += [text] if text else []
        return _Reply(" ".join(dict.fromkeys(texts)))

    def _after(self, settled: _Settled) -> After | None:
        for after in self._book.after:
            if (after.tool, after.outcome) != (settled.tool, settled.outcome):
                continue
            if all(dig(settled.result, path) == value for path, value in after.result):
                return after
        return None

    def _matching(self, moment: "_Moment") -> list[tuple[Rule, dict[str, str]]]:
        """Rules in the order to try: by pattern as written, then by likeness."""
        usable = [rule for rule in self._book.rules if moment.allows(rule)]
        by_pattern: list[tuple[Rule, dict[str, str]]] = []
        for rule in usable:
            found = next((m for p in rule.patterns if (m := p.search(moment.said))), None)
            if found is not None:
                groups = {name: text for name, text in found.groupdict().items() if text}
                by_pattern.append((rule, groups))
        plain = _plain(moment.said)
        scored = [
            (self._likeness(plain, examples), rule)
            for rule, examples in self._examples
            if rule in usable
        ]
        scored = [item for item in scored if item[0] >= self._book.similarity]
        scored.sort(key=lambda item: -item[0])
        return [*by_pattern, *((rule, {}) for _, rule in scored)]

    @staticmethod
    def _likeness(plain: str, examples: Sequence[str]) -> float:
        return max((fuzz.token_sort_ratio(plain, example) for example in examples), default=0.0)

    # ---------------------------------------------------------------- saying again

    def _is_repeat(self, said: str) -> bool:
        return self._likeness(_plain(said), self._repeat) >= max(85, self._book.similarity)

    def _again(self, moment: "_Moment") -> str | None:
        """The agent's last message; whole, where a rule's text begins as the heard part does."""
        heard = moment.last_agent_text
        if not moment.was_interrupted:
            return heard or None
        templates = (
            template
            for rule in (*self._book.rules, self._book.otherwise)
            for template in (*rule.say, *rule.interrupted)
        )
        results = (template for after in self._book.after for template in after.say)
        for template in (*templates, *results):
            whole = moment.fill(template)
            if whole is not None and heard and whole.startswith(heard):
                return whole
        return heard or None


def from_file(path: Path, name: str, tools: Collection[str]) -> RulesModel:
    """Read a rules file and build its model; ``tools`` are the names that the skill has.

    Raises:
        ProjectError: with every problem of the file.
    """
    problems = Problems()
    with path.open("rb") as file:
        book = read_rules(file.read(MAX_BYTES + 1), name, problems, tools)
    if problems.found:
        raise ProjectError(problems.found)
    return RulesModel(book)


def named(_: str, options: dict[str, Json]) -> RulesModel:
    """As a project names it: ``provider: tests.fakes.rules.model:named``, with ``file`` (named
    from the folder of the test projects) and ``tools``.
    """
    name = str(options["file"])
    return from_file(_PROJECTS / name, name, cast("list[str]", options.get("tools") or []))


_PROJECTS = Path(__file__).parents[2] / "projects"


class _Moment:
    """What one request's messages say about where the conversation stands."""

    def __init__(self, request: ChatRequest) -> None:
        self.tools = {tool.name: tool for tool in request.tools}
        messages = request.messages
        self._calls = {call.id: call.name for m in messages for call in m.calls}
        self._settled = [self._read(m) for m in messages if m.role == "tool"]
        self.fresh = [self._read(m) for m in _latest_round(messages) if m.role == "tool"]
        users = [m.text for m in messages if m.role == "user"]
        self.said = " ".join(users[-1].split())[:_MAX_INPUT] if users else ""
        self.turns = len(users)
        self.calls_so_far = len(self._calls)
        agent = [m.text for m in messages if m.role == "assistant" and m.text]
        last = agent[-1].rstrip() if agent else ""
        self.was_interrupted = last.endswith(INTERRUPTED_MARK)
        self.last_agent_text = last.removesuffix(INTERRUPTED_MARK).rstrip()
        self._latest_ok = {s.tool: s.result for s in self._settled if s.outcome == "ok"}
        self._last_ok_tool = next(
            (s.tool for s in reversed(self._settled) if s.outcome == "ok"), None
        )

    def _read(self, message: ChatMessage) -> _Settled:
        return _settled(message, self._calls.get(message.call_id, ""))

    def allows(self, rule: Rule) -> bool:
        """Whether the rule may be used now."""
        if rule.needs is not None and rule.needs != self._last_ok_tool:
            return False
        return rule.call is None or rule.call.tool in self.tools

    def look_up(self, name: str) -> Json:
        """The value of ``tool.field``: from the latest successful call of that tool."""
        tool, dot, path = name.partition(".")
        return dig(self._latest_ok.get(tool), path) if dot else None

    def fill(self, template: Template) -> str | None:
        """Fill from earlier results; a bare field is one of the latest successful call."""

        def value(name: str) -> Json:
            known = self.look_up(name)
            latest = self._latest_ok.get(self._last_ok_tool or "")
            return dig(latest, name) if known is None else known

        return template.fill(value)

    def pick(self, variants: Sequence[Template], lookup: Callable[[str], Json]) -> str | None:
        """Choose a variant by the turn's number, among those whose placeholders have values."""
        filled = [text for v in variants if (text := v.fill(lookup)) is not None]
        return filled[(self.turns - 1) % len(filled)] if filled else None


def _latest_round(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """What came after the calls of the running turn; empty while it has made none.

    Messages that a tool sent may stand behind its result, so that the last message alone tells
    nothing.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "user":
            break
        if message.calls:
            return messages[index + 1 :]
    return ()


def _perform(rule: Rule, moment: _Moment, groups: dict[str, str]) -> _Reply | None:
    """What the rule says and calls; None when a value for it is missing."""

    def lookup(name: str) -> Json:
        return groups[name] if name in groups else moment.look_up(name)

    call = _asked(rule.call, moment, lookup) if rule.call is not None else None
    if rule.call is not None and call is None:
        return None
    variants = rule.interrupted if moment.was_interrupted and rule.interrupted else rule.say
    text = moment.pick(variants, lookup)
    if text is None and (variants or call is None):
        return None
    return _Reply(text or "", call)


def _asked(call: Call, moment: _Moment, lookup: Callable[[str], Json]) -> RequestedCall | None:
    """The call with its arguments filled; None when a required one has no value."""
    tool = moment.tools.get(call.tool)
    if tool is None:
        return None
    arguments: dict[str, Json] = {}
    for name, value in call.arguments:
        filled = value.fill(lookup) if isinstance(value, Template) else value
        if filled is not None:
            arguments[name] = _as_declared(filled, tool, name)
    required = tool.parameters.get("required")
    if isinstance(required, list) and any(name not in arguments for name in required):
        return None
    text = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
    return RequestedCall(f"rules_{moment.calls_so_far + 1}", call.tool, text)


def _as_declared(value: Json, tool: ToolSpec, name: str) -> Json:
    """A caller's words as the number or flag that the tool's schema asks for, if they are one."""
    if not isinstance(value, str):
        return value
    match dig(dict(tool.parameters), f"properties.{name}.type"):
        case "integer" if value.strip().lstrip("-").isdecimal():
            return int(value)
        case "number":
            try:
                return float(value)
            except ValueError:
                return value
        case "boolean" if value.casefold() in ("yes", "true", "no", "false"):
            return value.casefold() in ("yes", "true")
        case _:
            return value


def _lookup_result(result: Json) -> Callable[[str], Json]:
    def lookup(name: str) -> Json:
        return dig(result, name)

    return lookup


def _settled(message: ChatMessage, tool: str) -> _Settled:
    if message.text == STILL_RUNNING:
        return _Settled(tool, "still_running", None)
    try:
        result = cast(Json, json.loads(message.text))
    except ValueError:
        result = message.text
    return _Settled(tool, _outcome(result), result)


def _outcome(result: Json) -> Outcome:
    """How the call ended: the engine writes ``{"status", "reason"}`` where there is no answer."""
    match result:
        case {"status": str(word), "reason": str(), **others} if not others:
            return next((outcome for outcome in get_args(ToolOutcome) if outcome == word), "ok")
        case {"error": error} if error:
            return "failed"
        case _:
            return "ok"


def _plain(text: str) -> str:
    """Letters and digits only, lower case: what a recogniser can't be trusted with is gone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = (c if c.isalnum() or c.isspace() else "" if c in "'’" else " " for c in folded)
    return " ".join("".join(kept).split())
