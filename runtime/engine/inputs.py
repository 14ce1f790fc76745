"""Input that means a value by itself: keyed digits for a question, taps on offered buttons.

Owns what is written before the model is asked.
"""

from runtime.conversation.events import OfferedButton, Writer
from runtime.engine.parts import EngineParts
from runtime.engine.scope import Refused, TurnScope
from runtime.project.skill_model import CollectStep

__all__ = ["take_input"]

_SKIPPED = "utter_set_memory_button_skipped"
_WRITES = "set:"
_REF = "session."


async def take_input(parts: EngineParts, scope: TurnScope) -> bool:
    """Write what the input means by itself.

    Returns:
        Whether the turn goes on; a tap that means nothing any more ends it.
    """
    said = scope.input
    if said is None:
        return True
    if said.kind == "keys":
        await _take_keys(parts, scope, said.text)
    elif said.kind == "tap":
        return await _take_tap(parts, scope, said.text)
    return True


async def _take_keys(parts: EngineParts, scope: TurnScope, keys: str) -> None:
    step = parts.steps.step
    if not isinstance(step, CollectStep) or step.keys is None:
        return
    if parts.steps.confirming.is_in_front:
        return  # a yes or no is asked for: whatever is keyed answers that, or nothing
    finish = step.keys.finish
    digits = keys.removesuffix(finish) if finish else keys
    wanted = step.keys.length or 1
    if len(digits) < wanted:
        # A pause among the keys ends the input: what came of it is no value.
        reason = f"{len(digits)} digits were keyed, and {wanted} are needed"
        _refuse(scope, Refused(reason))
        return
    await _write(parts, scope, f"{step.namespace}.{step.field}", digits, "keys")


async def _take_tap(parts: EngineParts, scope: TurnScope, text: str) -> bool:
    button = next((b for b in parts.desk.state.buttons if _is_tapped(b, text)), None)
    if button is None:
        await parts.responses.give(scope, _SKIPPED)
        return False
    if button.ref is None:
        return True
    name = button.ref.removeprefix(_REF)
    if await _write(parts, scope, name, button.payload, "tap"):
        return True
    if scope.refused is not None and scope.refused.by_author:
        return True  # its hook says why: that is told, and the question put again
    await parts.responses.give(scope, _SKIPPED)
    return False


def _is_tapped(button: OfferedButton, text: str) -> bool:
    written = f"{_WRITES}{button.ref}={button.payload}" if button.ref is not None else None
    return text in (button.title, button.payload, written)


async def _write(
    parts: EngineParts, scope: TurnScope, name: str, value: str, writer: Writer
) -> bool:
    refused = await parts.writes.write(scope.turn, {name: value}, writer)
    if refused is not None:
        _refuse(scope, refused)
        return False
    # The words were this value: there is nothing left in them for the model.
    scope.asked_in.add(parts.desk.top_id)
    scope.is_taken = True
    return True


def _refuse(scope: TurnScope, refused: Refused) -> None:
    scope.refused = refused
    scope.note = f"What the caller entered was not accepted: {refused.reason}."
