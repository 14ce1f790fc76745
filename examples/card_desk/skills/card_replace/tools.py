"""Replacing a card: which one, whether it may be, and the order itself."""

import asyncio

from lib import bank

from runtime import Button, ToolContext, ToolResult, tool


def _customer_id(context: ToolContext) -> str:
    return context.memory.get("project.customer_id", "")


def _cards(context: ToolContext) -> list[bank.Card]:
    customer = bank.find(_customer_id(context))
    return customer.cards if customer is not None else []


def _was_taken(context: ToolContext) -> bool:
    """Whether the card is in the wrong hands, or may be: then it is locked."""
    return context.memory.get("replacement_reason") in ("lost", "stolen")


@tool(description="Load the cards of the caller")
async def load_cards(context: ToolContext) -> ToolResult:
    cards = _cards(context)
    context.memory.set("card_list", [card.label for card in cards])
    if len(cards) == 1:  # nothing to choose
        context.memory.set("selected_card_id", cards[0].id)
        context.memory.set("selected_card_label", cards[0].label)
    return ToolResult(llm_response={"cards": [card.label for card in cards]})


@tool(description="The cards to choose from")
async def list_cards(context: ToolContext) -> ToolResult:
    context.set_buttons([Button(title=card.label, value=card.label) for card in _cards(context)])
    return ToolResult()


@tool(description="Resolve what the caller called the card to one of their cards")
async def run_after_setting_selected_card_label(context: ToolContext) -> ToolResult:
    said = context.memory.get("selected_card_label", "").casefold()
    matches = [
        card
        for card in _cards(context)
        if card.last_four in said or said in card.label or card.label in said
    ]
    if len(matches) != 1:
        return ToolResult(llm_response={"error": "No single card matches that."})
    chosen, before = matches[0], context.memory.get("selected_card_id")
    context.memory.set("selected_card_label", chosen.label)
    context.memory.set("selected_card_id", chosen.id)
    if chosen.id != before and bank.unlock(_customer_id(context), before):
        bank.lock(_customer_id(context), chosen.id)
        await context.send(f"I've locked {chosen.label} instead, and the other one works again.")
    if context.memory.get("eligible") is not None:  # another card than the one that was checked
        context.memory.set("eligible", chosen.replaceable)
    return ToolResult()


@tool(description="Take a lock back where the card was in nobody else's hands after all")
async def run_after_setting_replacement_reason(context: ToolContext) -> ToolResult:
    chosen = context.memory.get("selected_card_id")
    if not _was_taken(context) and bank.unlock(_customer_id(context), chosen):
        await context.send("I've unlocked that card again.")
    return ToolResult()


@tool(description="Check whether the chosen card may be replaced", filler="Let me check that card.")
async def check_eligibility(context: ToolContext) -> ToolResult:
    await asyncio.sleep(0.5)
    chosen = context.memory.get("selected_card_id")
    card = next((card for card in _cards(context) if card.id == chosen), None)
    context.memory.set("eligible", card is not None and card.replaceable)
    return ToolResult(llm_response={"eligible": context.memory.get("eligible")})


@tool(description="Lock the chosen card at once", on_interrupt="finish")
async def lock_card(context: ToolContext) -> ToolResult:
    bank.lock(_customer_id(context), context.memory.get("selected_card_id"))
    return ToolResult(llm_response={"locked": True})


@tool(description="Order the new card", filler="I'm placing the order now.")
async def order_replacement(card_id: str, shipping: str, context: ToolContext) -> ToolResult:
    await asyncio.sleep(2.0)  # the part of the work that can be dropped
    async with context.committing():  # from here on it happens, whatever the caller says
        await asyncio.sleep(1.0)
        customer_id = _customer_id(context)
        if _was_taken(context):
            bank.lock(customer_id, card_id)
        order = bank.place_order(context.idempotency_key, customer_id, card_id, shipping)
        context.memory.set("order_number", order.number)
    return ToolResult(llm_response={"order": order.number})
