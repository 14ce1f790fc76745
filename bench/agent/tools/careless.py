"""Tools that must not be felt by any other call: one blocks its loop, one burns Python."""

import time

from runtime import ToolContext, ToolResult, tool


@tool(description="Block the agent's loop for three seconds")
async def block(context: ToolContext) -> ToolResult:
    """Sleep without awaiting, as careless code does."""
    time.sleep(3)
    return ToolResult(llm_response={"ok": True})


@tool(description="Burn Python for three seconds")
async def burn(context: ToolContext) -> ToolResult:
    """Hold the interpreter lock, as a runaway loop does."""
    until = time.perf_counter() + 3
    count = 0
    while time.perf_counter() < until:
        count += 1
    return ToolResult(llm_response={"ok": True})
