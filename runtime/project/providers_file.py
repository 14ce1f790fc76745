"""Reads ``tool_providers`` of ``integrations.yml``.

Owns the keys that every provider has; what else is written goes to the provider as it is. Nothing
is imported here.
"""

import re

from runtime.project.connection_fields import (
    NAME,
    place_of,
    read_retries,
    read_url,
    refuse_literal,
)
from runtime.project.fields import Fields
from runtime.project.problems import Problems
from runtime.project.server_model import ToolProviderSpec
from runtime.project.yaml_nodes import Node, Scalar

__all__ = ["read_providers"]


def read_providers(top: Fields, problems: Problems) -> dict[str, ToolProviderSpec]:
    """Read every tool provider, by id."""
    found: dict[str, ToolProviderSpec] = {}
    section = top.section("tool_providers")
    for entry in section.keys():
        if not NAME.fullmatch(entry.key):
            problems.add(
                entry.place,
                "bad_name",
                "a provider's id is made of letters, digits, '_', '.' and '-'",
                "rename it",
            )
            continue
        fields = Fields(entry.value, problems, section.path(entry.key), entry.place)
        found[entry.key] = _provider(fields, entry.key, problems)
    return found


def _provider(fields: Fields, provider_id: str, problems: Problems) -> ToolProviderSpec:
    module = fields.required_text("type")
    if module and not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", module):
        fields.problem(
            place_of(fields, "type"),
            "unknown_value",
            f"'{fields.path('type')}' must be the path of a module with a class 'Provider'",
            "write package.module",
        )
    if fields.entry("allowed_functions") is None:
        fields.problem(
            fields.place,
            "missing_key",
            f"'{fields.path('allowed_functions')}' is missing",
            "add it: a list of regular expressions, ['.*'] for all",
        )
    allowed = tuple(_pattern(node, fields) for node in fields.items("allowed_functions"))
    for entry in fields.section("headers").keys():
        refuse_literal(entry.key, entry.value, problems)
    if fields.entry("url") is not None:
        read_url(fields, "url", problems)
    options = [(key, fields.json(key)) for key in ("headers", "url") if fields.entry(key)]
    if fields.entry("init_retries") is not None:
        options.append(("init_retries", list(read_retries(fields))))
    return ToolProviderSpec(
        id=provider_id,
        type=module,
        allowed_functions=tuple(pattern for pattern in allowed if pattern),
        options=(*options, *fields.rest()),
        place=fields.place,
    )


def _pattern(node: Node, fields: Fields) -> str:
    if not isinstance(node, Scalar) or not node.text:
        reason = "is no text"
    else:
        try:
            re.compile(node.text)
        except (re.error, RecursionError, OverflowError) as error:
            reason = f"is no regular expression: {error}"
        else:
            return node.text
    fields.problem(
        node.place,
        "bad_pattern",
        f"an entry of '{fields.path('allowed_functions')}' {reason}",
        "write the name of a tool, or a regular expression that matches names",
    )
    return ""
