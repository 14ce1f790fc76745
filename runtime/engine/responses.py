"""Saying an author's responses: which variant, with which values, with which buttons.

Owns the choice and the filling in. A response whose every variant is conditioned, and none holds,
says nothing. ``rephrase`` asks the model for other words and falls back to the written ones.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from runtime.agent import Expect, Json, SayKind
from runtime.conversation.events import OfferedButton, ResponseGiven, ToolAsked
from runtime.engine.desk import Desk
from runtime.engine.gates import holds, is_open
from runtime.engine.scope import TurnScope
from runtime.models.ports import ChatMessage, ChatRequest, TextDelta
from runtime.project.response_model import ButtonSource, StaticButton, ValuePart, Variant
from runtime.tasks import closing_stream, raise_if_cancelled
from runtime.tools.buttons import Button

__all__ = ["Given", "Responses"]

REPHRASE_S = 4.0
"""How long the model may take to find other words."""

_REPHRASE = (
    "Say the following in your own words, in one or two short spoken sentences. Keep every name, "
    "number and condition as it is. Answer with the sentences alone."
)

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Given:
    """A response that was said."""

    say: int
    text: str
    essential_chars: int
    """Where the last value that was filled in ends, or all: what must be heard of a question."""


class Responses:
    """The responses of one call."""

    def __init__(self, desk: Desk) -> None:
        """Speak through ``desk``."""
        self._desk = desk

    async def give(
        self,
        scope: TurnScope,
        name: str,
        *,
        kind: SayKind | None = None,
        expect: Expect | None = None,
        skill: str | None = None,
        outcome_of: int | None = None,
    ) -> Given | None:
        """Say a response.

        Args:
            scope: The turn that says it.
            name: The response.
            kind: What sort of message it is; None = the turn's.
            expect: The kind of answer it asks for.
            skill: Whose names a bare ``{field}`` means; None = the active skill's.
            outcome_of: The call whose outcome it tells.

        Returns:
            What was said; None when no variant holds.
        """
        skill = self._desk.skill if skill is None else skill
        variant = self._variant(name, skill)
        if variant is None:
            return None
        buttons = await self._buttons(scope, variant, skill)
        text, essential = self._filled(variant, skill)
        if variant.rephrase:
            other = await self._rephrased(text)
            essential = essential if other is None else len(other)
            text = other or text
        if not text.strip():
            return None
        if buttons:
            # On voice nobody sees them.
            text = with_spoken(text, [b.title for b in buttons])
            expect = expect or Expect("choice")
            if expect.kind in ("open", "choice"):
                titles = tuple(b.title for b in buttons)
                expect = replace(expect, kind="choice", choices=titles)
        expect = expect or Expect()
        say = self._desk.speech.line(
            scope.turn,
            kind or scope.line_kind,
            text,
            interruptible=variant.interruptible,
            expect=expect,
        )
        fact = ResponseGiven(name, say, tuple(buttons), outcome_of, skill)
        self._desk.record(scope.turn, fact)
        scope.said = True
        scope.expect = expect
        return Given(say, text, essential)

    async def tell_untold(self, scope: TurnScope) -> None:
        """Say again how calls came out where an interruption kept it from the caller."""
        for say, told in list(self._desk.state.untold.items()):
            message = self._desk.state.message(say)
            if message is None or message.outcome is not None:
                await self.give(scope, told.response, skill=told.skill, outcome_of=told.outcome_of)

    def wording(self, name: str, skill: str | None = None) -> str | None:
        """The text that the response would have now, without its buttons; None = nothing."""
        skill = self._desk.skill if skill is None else skill
        variant = self._variant(name, skill)
        return None if variant is None else self._filled(variant, skill)[0]

    def _variant(self, name: str, skill: str) -> Variant | None:
        response = self._desk.project.responses.get(name)
        if response is None:
            return None
        read = self._desk.reader(skill)
        conditioned = (v for v in response.variants if v.condition is not None)
        chosen = next((v for v in conditioned if holds(v.condition, read)), None)
        if chosen is None:
            chosen = next((v for v in response.variants if v.condition is None), None)
        return chosen

    def _filled(self, variant: Variant, skill: str) -> tuple[str, int]:
        """The text, and how much of it must be heard: up to its last value, or all of it."""
        text, essential = "", 0
        for part in variant.parts:
            if isinstance(part, ValuePart):
                text += self._shown(part, skill)
                essential = len(text)
            else:
                text += part
        return text, essential or len(text.rstrip())

    def _shown(self, part: ValuePart, skill: str) -> str:
        schema = self._desk.schema
        name = f"{part.namespace}.{part.name}" if part.namespace else part.name
        found = schema.readable(name, skill)
        return "" if found is None else as_text(self._desk.value(found.namespace, found.name))

    # -- buttons

    async def _buttons(self, scope: TurnScope, variant: Variant, skill: str) -> list[OfferedButton]:
        if isinstance(variant.buttons, ButtonSource):
            return [_dynamic(b) for b in await self._ask_source(scope, variant.buttons, skill)]
        return [_static(b) for b in variant.buttons]

    async def _ask_source(self, scope: TurnScope, source: ButtonSource, skill: str) -> list[Button]:
        """Call the tool that the buttons come from; one that fails gives none."""
        desk = self._desk
        owner = desk.project.skills.get(skill)
        definition = owner.tools.get(source.tool) if owner is not None else None
        if owner is None or definition is None:
            return []
        if not is_open(owner, definition.name, desk.reader(skill)):
            return []
        sink: list[Button] = []
        call_id = desk.next_call_id()
        desk.record(
            scope.turn, ToolAsked(call_id, "", definition.name, "{}", scope.round, "buttons")
        )
        desk.prepare_call(call_id, skill, buttons=sink)
        running = desk.runner.start(definition, {}, call_id=call_id, turn=scope.turn)
        if running is not None:
            await running.settled.wait()
        made = desk.state.tool_call(call_id)
        return sink if made is not None and made.outcome == "ok" else []

    # -- other words

    async def _rephrased(self, text: str) -> str | None:
        if not self._desk.parts.models:
            return None
        _, model = self._desk.parts.models[0]
        messages = (
            ChatMessage("system", f"{self._desk.project.persona}\n\n{_REPHRASE}"),
            ChatMessage("user", text),
        )
        found = ""
        try:
            async with asyncio.timeout(REPHRASE_S):
                async with closing_stream(model.stream(ChatRequest(messages))) as stream:
                    async for event in stream:
                        if isinstance(event, TextDelta):
                            found += event.text
        except (Exception, asyncio.CancelledError) as error:
            raise_if_cancelled()
            _logger.warning("a line was not rephrased", extra={"error": type(error).__name__})
            return None
        found = found.strip()
        return found if 0 < len(found) <= 4 * len(text) + 200 else None


def with_spoken(text: str, titles: Sequence[str]) -> str:
    """A line with the titles of its buttons, as they are read out: ``Which: a, or b?``."""
    text = text.rstrip()
    titles = [title.rstrip(" .?!") for title in titles]
    if len(titles) < 2:
        return f"{text} {''.join(titles)}."
    listed = f"{', '.join(titles[:-1])}, or {titles[-1]}?"
    return f"{text[:-1]}: {listed}" if text.endswith("?") else f"{text} {listed}"


def as_text(value: Json) -> str:
    """A memory value as a person would say it."""
    match value:
        case None:
            return ""
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            return ", ".join(as_text(item) for item in value)
        case dict():
            return ", ".join(f"{key}: {as_text(item)}" for key, item in value.items())
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def _static(button: StaticButton) -> OfferedButton:
    target, is_write, value = button.payload.removeprefix("set:").partition("=")
    if button.payload.startswith("set:") and is_write:
        return OfferedButton(button.title, value, target)
    return OfferedButton(button.title, button.payload)


def _dynamic(button: Button) -> OfferedButton:
    # Exact strings: an author's subclass of ``str`` can't be stored.
    ref = None if button.ref is None else _plain(button.ref)
    return OfferedButton(_plain(button.title), _plain(button.value), ref)


def _plain(value: object) -> str:
    return str.__str__(value) if isinstance(value, str) else str(value)
