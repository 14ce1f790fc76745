"""Looking up an order."""

from lib import bank

from runtime import ToolContext, ToolResult, tool


@tool(description="Find the caller's latest order")
async def find_order(context: ToolContext) -> ToolResult:
    orders = bank.orders_of(context.memory.get("project.customer_id", ""))
    context.memory.set("found", bool(orders))
    if orders:
        context.memory.set("number", orders[-1].number)
        context.memory.set("shipping", orders[-1].shipping)
    return ToolResult(llm_response={"found": bool(orders)})
