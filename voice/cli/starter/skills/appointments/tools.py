"""What the agent can do for a caller who wants a repair."""

import asyncio

from runtime import ToolContext, ToolResult, tool


@tool(description="Book a repair on a day.", filler="One moment, I'm writing that down.")
async def book_repair(day: str, problem: str, context: ToolContext) -> ToolResult:
    """Write the booking; when the caller talks over it before then, nothing has happened."""
    await asyncio.sleep(0.5)  # in place of the calendar that you have
    async with context.committing():
        # What is in here is finished although the caller interrupts, and remembered.
        context.memory.set("booking", f"{day}-{len(problem)}")
    return ToolResult(llm_response={"booked": day})
