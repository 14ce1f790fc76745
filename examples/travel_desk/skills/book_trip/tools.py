"""Finding a train and booking a seat on it."""

import asyncio

from lib import trains

from runtime import ToolContext, ToolResult, tool


@tool(description="Look up the trains to a town", filler="I'm looking up the trains.")
async def find_trains(destination: str) -> ToolResult:
    await asyncio.sleep(0.5)
    found = trains.trains_to(destination)
    return ToolResult(
        llm_response=[{"id": t.id, "leaves": t.leaves, "euros": t.price} for t in found]
    )


@tool(description="Keep the train that the caller has chosen")
async def choose_train(train_id: str, context: ToolContext) -> ToolResult:
    train = trains.train(train_id)
    if train is None:
        return ToolResult(llm_response={"error": "There is no such train."})
    context.memory.set("train_id", train.id)
    context.memory.set("leaves", train.leaves)
    return ToolResult(llm_response={"chosen": train.id})


@tool(description="Work out what the chosen ticket costs")
async def work_out_price(context: ToolContext) -> ToolResult:
    train = trains.train(context.memory.get("train_id", ""))
    if train is None:
        return ToolResult(llm_response={"error": "No train is chosen."})
    price = train.price
    if context.memory.get("fare") == "flexible":
        price += 30
        if context.memory.get("project.has_railcard"):
            price //= 2
    context.memory.set("price", price)
    return ToolResult(llm_response={"euros": price})


@tool(description="Book the seat", filler="I'm booking your seat now.")
async def book_seat(train_id: str, fare: str, context: ToolContext) -> ToolResult:
    await asyncio.sleep(1.0)  # the part of the work that can be dropped
    async with context.committing():  # from here on it happens, whatever the caller says
        await asyncio.sleep(0.5)
        booking = trains.book(context.idempotency_key, train_id, fare)
        context.memory.set("booking_number", booking.number)
    return ToolResult(llm_response={"booking": booking.number})
