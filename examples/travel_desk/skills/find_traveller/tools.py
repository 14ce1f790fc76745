"""Finding out who is travelling."""

import asyncio

from lib import trains

from runtime import ToolContext, ToolResult, tool


@tool(description="Look up a traveller by number")
async def look_up_traveller(number: str, context: ToolContext) -> ToolResult:
    await asyncio.sleep(0.3)
    traveller = trains.find_traveller(number)
    if traveller is None:
        return ToolResult(llm_response={"found": False})
    context.memory.set("project.traveller_id", traveller.id)
    context.memory.set("project.traveller_name", traveller.name)
    context.memory.set("project.has_railcard", traveller.has_railcard)
    return ToolResult(llm_response={"found": True})
