"""Reads ``mcp_servers`` of ``integrations.yml``.

Owns their keys and what excludes what. Connecting is not done here, nothing is imported.
"""

import re
from collections.abc import Mapping

from runtime.errors import Place
from runtime.project.connection_fields import (
    NAME,
    place_of,
    read_retries,
    read_timeout,
    read_url,
    refuse_literal,
)
from runtime.project.engine_names import MODULE_PATH
from runtime.project.fields import Fields
from runtime.project.problems import Problems
from runtime.project.server_model import (
    ApiKeyAuth,
    McpServerSpec,
    OAuthSpec,
    ServerType,
)

__all__ = ["read_servers"]

_TYPES: Mapping[str, ServerType] = {"http": "http", "https": "http", "stdio": "stdio"}
_AUTH = ("token", "api_key", "oauth", "module")
_OVER_HTTP = (*_AUTH, "header_name", "header_format", "headers")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def read_servers(top: Fields, problems: Problems) -> dict[str, McpServerSpec]:
    """Read every MCP server, by name."""
    servers: dict[str, McpServerSpec] = {}
    for node in top.items("mcp_servers"):
        fields = Fields(node, problems, "mcp_servers", node.place, "name", is_item=True)
        server = _server(fields, problems)
        if not server.name:
            continue
        first = servers.get(server.name)
        if first is not None:
            problems.add(
                node.place,
                "duplicate_id",
                f"the MCP server '{server.name}' is written twice; first at {first.place}",
                "give it another name",
            )
            continue
        servers[server.name] = server
    return servers


def _server(fields: Fields, problems: Problems) -> McpServerSpec:
    name = _name(fields)
    url = read_url(fields, "url", problems)
    command = fields.text("command")
    _check_way(fields)
    _check_auth(fields)
    _check_transport(fields)
    server = McpServerSpec(
        name=name,
        type="stdio" if command and not url else "http",
        url=url,
        command=command,
        args=fields.texts("args"),
        token=fields.secret("token"),
        api_key=_api_key(fields),
        oauth=_oauth(fields, problems),
        auth_module=_module(fields, "module"),
        headers=_headers(fields.section("headers"), problems),
        meta_map=_texts_by_name(fields.section("meta_map")),
        pre_call_hook=_module(fields, "pre_call_hook"),
        tool_timeout_s=read_timeout(fields, "tool_timeout"),
        init_retries_s=read_retries(fields),
        place=fields.place,
    )
    fields.done()
    return server


def _name(fields: Fields) -> str:
    name = fields.required_text("name")
    if name and not NAME.fullmatch(name):
        fields.problem(
            place_of(fields, "name"),
            "bad_name",
            "a server's name is made of letters, digits, '_', '.' and '-'",
            "rename it",
        )
        return ""
    return name


# ------------------------------------------------------------------ what excludes what


def _check_way(fields: Fields) -> None:
    """Exactly one of ``url`` and ``command``; ``args`` belong to the second."""
    url, command = fields.entry("url"), fields.entry("command")
    if url is None and command is None:
        fields.problem(
            fields.place,
            "missing_key",
            f"'{fields.path('url')}' is missing",
            "add 'url: https://…', or 'command:' to start the server here",
        )
    elif url is not None and command is not None:
        _exclude(fields, "command", "url", "keep the one by which the server is reached")
    if command is None and fields.entry("args") is not None:
        fields.problem(
            _key_place(fields, "args"),
            "misplaced_key",
            f"'{fields.path('args')}' belongs to a 'command'",
            "take it away",
        )


def _check_auth(fields: Fields) -> None:
    written = [key for key in _AUTH if fields.entry(key) is not None]
    written.sort(key=lambda key: _key_place(fields, key))
    for key in written[1:]:
        _exclude(fields, key, written[0], "keep one way to authenticate")
    for key in ("header_name", "header_format"):
        if fields.entry(key) is not None and fields.entry("api_key") is None:
            fields.problem(
                _key_place(fields, key),
                "misplaced_key",
                f"'{fields.path(key)}' belongs to an 'api_key'",
                "take it away",
            )


def _check_transport(fields: Fields) -> None:
    """``type`` must fit how the server is reached; headers and logins go over HTTP only."""
    is_local = fields.entry("command") is not None and fields.entry("url") is None
    if fields.entry("type") is not None:
        kind = _TYPES[fields.choice("type", tuple(_TYPES), "stdio" if is_local else "http")]
        if (kind == "stdio") != is_local:
            fields.problem(
                place_of(fields, "type"),
                "conflicting_keys",
                f"'{fields.path('type')}' does not fit: the server is reached by "
                + ("'command'" if is_local else "'url'"),
                f"write {'stdio' if is_local else 'http'}, or take it away",
            )
    if not is_local:
        return
    for key in _OVER_HTTP:
        if fields.entry(key) is not None:
            _exclude(fields, key, "command", "take it away: it is sent over HTTP only")


def _exclude(fields: Fields, key: str, other: str, mend: str) -> None:
    fields.problem(
        _key_place(fields, key),
        "conflicting_keys",
        f"'{fields.path(key)}' can't stand beside '{other}'",
        mend,
    )


# ------------------------------------------------------------------ parts of a server


def _api_key(fields: Fields) -> ApiKeyAuth | None:
    usual = ApiKeyAuth(None)
    name = fields.text("header_name", usual.header_name)
    form = fields.text("header_format", usual.header_format)
    if not _HEADER_NAME.fullmatch(name):
        _bad_header(fields, place_of(fields, "header_name"), fields.path("header_name"))
    if "{key}" not in form or _has_break(form):
        fields.problem(
            place_of(fields, "header_format"),
            "bad_header",
            f"'{fields.path('header_format')}' has no place for the key",
            "write it with {key}, e.g. 'Bearer {key}'",
        )
    if fields.entry("api_key") is None:
        return None
    return ApiKeyAuth(fields.secret("api_key"), name, form)


def _oauth(fields: Fields, problems: Problems) -> OAuthSpec | None:
    if fields.entry("oauth") is None:
        return None
    inner = fields.section("oauth")
    client_id = inner.required_text("client_id")
    if inner.entry("client_secret") is None:
        inner.required_text("client_secret")
    token_url = read_url(inner, "token_url", problems)
    if inner.entry("token_url") is None:
        inner.required_text("token_url")
    spec = OAuthSpec(
        client_id=client_id,
        client_secret=inner.secret("client_secret"),
        token_url=token_url or "",
        scope=inner.text("scope"),
        audience=inner.text("audience"),
        timeout_s=read_timeout(inner, "timeout") or 10.0,
    )
    inner.done()
    return spec


def _module(fields: Fields, key: str) -> str | None:
    path = fields.text(key)
    if path is not None and not MODULE_PATH.fullmatch(path):
        fields.problem(
            place_of(fields, key),
            "unknown_value",
            f"'{fields.path(key)}' must be the path of a module",
            "write package.module or package.module:Class",
        )
    return path


def _headers(fields: Fields, problems: Problems) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for entry in fields.keys():
        value = fields.secret(entry.key)
        if not _HEADER_NAME.fullmatch(entry.key) or _has_break(value or ""):
            _bad_header(fields, entry.place, fields.path(entry.key))
            continue
        refuse_literal(entry.key, entry.value, problems)
        if value is not None:
            found.append((entry.key, value))
    return tuple(found)


def _bad_header(fields: Fields, place: Place, path: str) -> None:
    fields.problem(
        place,
        "bad_header",
        f"'{path}' can't be sent as a header",
        "write a name of letters, digits and '-', and a value in one line",
    )


def _has_break(value: str) -> bool:
    return any(c in value for c in "\r\n\0")


def _texts_by_name(fields: Fields) -> tuple[tuple[str, str], ...]:
    return tuple((entry.key, fields.required_text(entry.key)) for entry in fields.keys())


def _key_place(fields: Fields, key: str) -> Place:
    entry = fields.entry(key)
    return entry.place if entry else fields.place
