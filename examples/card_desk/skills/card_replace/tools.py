"""Replacing a card: which one, whether it may be, and the order itself."""

import asyncio

from lib import bank

from runtime import Button, ToolContext, ToolResult, tool


def _cards(context):
    customer = bank.find(context.memory.get("project.customer_id", ""))
    return customer.cards if customer is not None else []


@tool(description="Load the cards of the caller")
async def load_cards(context: ToolContext = None) -> ToolResult:
    cards = _cards(context)
    context.memory.set("card_list", [card.label for card in cards])
    if len(cards) == 1:  # nothing to choose
        context.memory.set("selected_card_id", cards[0].id)
        context.memory.set("selected_card_label", cards[0].label)
    return ToolResult(llm_response={"cards": [card.label for card in cards]})


@tool(description="The cards to choose from")
async def list_cards(context: ToolContext = None) -> ToolResult:
    context.set_buttons([Button(title=card.label, value=card.label) for card in _cards(context)])
    return ToolResult()


@tool(description="Resolve what the caller called the card to one of their cards")
async def run_after_setting_selected_card_label(context: ToolContext = None) -> ToolResult:
    said = context.memory.get("selected_card_label", "").casefold()
    matches = [
        card
        for card in _cards(context)
        if card.last_four in said or said in card.label or card.label in said
    ]
    if len(matches) != 1:
        return ToolResult(llm_response={"error": "No single card matches that."})
    context.memory.set("selected_card_label", matches[0].label)
    context.memory.set("selected_card_id", matches[0].id)
    if context.memory.get("eligible") is not None:  # another card than the one that was checked
        context.memory.set("eligible", matches[0].replaceable)
    return ToolResult()


@tool(description="Check whether the chosen card may be replaced", filler="Let me check that card.")
async def check_eligibility(context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(0.5)
    chosen = context.memory.get("selected_card_id")
    card = next((card for card in _cards(context) if card.id == chosen), None)
    context.memory.set("eligible", card is not None and card.replaceable)
    return ToolResult(llm_response={"eligible": context.memory.get("eligible")})


@tool(description="Lock the chosen card at once", on_interrupt="finish")
async def lock_card(context: ToolContext = None) -> ToolResult:
    bank.lock(context.memory.get("project.customer_id", ""), context.memory.get("selected_card_id"))
    return ToolResult(llm_response={"locked": True})


@tool(description="Order the new card", filler="I'm placing the order now.")
async def order_replacement(card_id: str, shipping: str, context: ToolContext = None) -> ToolResult:
    await asyncio.sleep(2.0)  # the part of the work that can be dropped
    async with context.committing():  # from here on it happens, whatever the caller says
        await asyncio.sleep(1.0)
        customer_id = context.memory.get("project.customer_id", "")
        if context.memory.get("replacement_reason") in ("lost", "stolen"):
            bank.lock(customer_id, card_id)  # the caller may have meant another card at first
        order = bank.place_order(context.idempotency_key, customer_id, card_id, shipping)
        context.memory.set("order_number", order.number)
    return ToolResult(llm_response={"order": order.number})
