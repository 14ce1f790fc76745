"""Finding out who is calling."""

import asyncio

from lib import bank

from runtime import ToolContext, ToolResult, tool


@tool(description="Check a customer number against a year of birth")
async def check_identity(customer_number: str, birth_year: str, context: ToolContext) -> ToolResult:
    await asyncio.sleep(0.4)
    customer = bank.find(customer_number)
    if customer is None or customer.birth_year != birth_year:
        context.memory.set("attempts", context.memory.get("attempts", 0) + 1)
        return ToolResult(llm_response={"found": False})
    context.memory.set("project.customer_id", customer.id)
    context.memory.set("project.customer_name", customer.name)
    context.memory.set("project.authenticated", True)
    return ToolResult(llm_response={"found": True})


@tool(description="Forget the answers that did not fit")
async def forget_answers(context: ToolContext) -> ToolResult:
    context.memory.set("customer_number", None)
    context.memory.set("birth_year", None)
    return ToolResult()
