"""Which tools and responses a skill gets: its own, the shared ones it imports, packaged wording.

Owns the order of precedence and what can't be attached. Importing the modules is
``runtime.tools.loading``; whether what is attached fits the rest is ``checks``.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from runtime.errors import Place
from runtime.project.layout import INTEGRATIONS, TOOLS
from runtime.project.problems import Problems, nearest
from runtime.project.response_model import ButtonSource, Response
from runtime.project.yaml_nodes import Mapping as MappingNode
from runtime.project.yaml_nodes import Node, Scalar, Sequence
from runtime.tools.definition import ToolDef

__all__ = [
    "HOOK",
    "Declared",
    "Import",
    "attach_tools",
    "button_sources",
    "imports_of",
    "merge_responses",
    "sources_of",
]

_FOREIGN = ("mcp/", "provider/")

HOOK = "run_after_setting_"
"""What the name of a hook begins with; the entry's name follows."""


@dataclass(frozen=True, slots=True)
class Import:
    """One entry of ``import_tools``."""

    written: str
    place: Place


@dataclass(frozen=True, slots=True)
class Declared:
    """What ``integrations.yml`` declares beside models and channels."""

    servers: Collection[str] = ()
    """Names of MCP servers."""
    providers: Collection[str] = ()
    """Ids of tool providers."""
    is_known: bool = True
    """False when the file could not be read, so that nothing can be said about it."""


def imports_of(front: Node | None) -> tuple[Import, ...]:
    """The entries of ``import_tools`` in a skill's frontmatter that are texts."""
    entry = front.get("import_tools") if isinstance(front, MappingNode) else None
    items = entry.value.items if entry and isinstance(entry.value, Sequence) else ()
    return tuple(Import(i.text.strip(), i.place) for i in items if isinstance(i, Scalar))


def attach_tools(
    imports: Iterable[Import],
    local: Iterable[ToolDef],
    shared: Mapping[str, ToolDef] | None,
    declared: Declared,
    hooked: Collection[str] | None,
    problems: Problems,
) -> dict[str, ToolDef]:
    """Return a skill's tools by name: local ones first, then what it imports.

    Args:
        imports: What the skill asks for.
        local: Its own tools.
        shared: The project's; None = they can't be imported, so nothing is said of them.
        declared: MCP servers and tool providers.
        hooked: Fields whose shared hooks the skill has without importing them (in a Maestro
            project: its own and the project's); None = it has all of them.
        problems: Grows by what is wrong.
    """
    found = {tool.name: tool for tool in local}
    foreign: list[Import] = []
    for entry in imports:
        if entry.written.startswith(_FOREIGN):
            foreign.append(entry)
        elif shared is not None:
            tool = shared.get(entry.written)
            if tool is None:
                _unknown(entry, found, shared, problems)
            else:
                found.setdefault(tool.name, tool)
    for entry in foreign:
        _refuse_foreign(entry, found, declared, problems)
    for tool in (shared or {}).values():
        if tool.hook_for is not None and (hooked is None or tool.hook_for in hooked):
            found.setdefault(tool.name, tool)
    return found


def _unknown(
    entry: Import, local: Collection[str], shared: Collection[str], problems: Problems
) -> None:
    if entry.written in local:
        mend = "take it away: a skill's own tools need no import"
    else:
        close = nearest(entry.written, shared)
        mend = f"did you mean '{close}'?" if close else f"define it in a file below '{TOOLS}/'"
    problems.add(
        entry.place, "unknown_tool", f"there is no shared tool called '{entry.written}'", mend
    )


def _refuse_foreign(
    entry: Import, attached: Collection[str], declared: Declared, problems: Problems
) -> None:
    """Check ``mcp/<server>:<tool>`` and ``provider/<id>:<tool>``."""
    kind, _, rest = entry.written.partition("/")
    owner, _, tool = rest.partition(":")
    if not owner or not tool:
        return  # the reader of the file has said so
    known = declared.servers if kind == "mcp" else declared.providers
    key = "mcp_servers" if kind == "mcp" else "tool_providers"
    if declared.is_known and owner not in known:
        close = nearest(owner, known)
        problems.add(
            entry.place,
            "unknown_server" if kind == "mcp" else "unknown_provider",
            f"'{owner}' is not declared under '{key}' in {INTEGRATIONS}",
            f"did you mean '{kind}/{close}:{tool}'?" if close else "declare it there",
        )
    elif tool in attached:
        problems.add(
            entry.place,
            "tool_collision",
            f"the skill has a tool called '{tool}' already, and the model sees bare names",
            "rename the skill's own tool, or leave this one out",
        )
    else:
        problems.add(
            entry.place,
            "unsupported",
            f"tools of '{kind}/' are not supported yet in this version",
            "take the entry away",
        )


# ------------------------------------------------------------------ responses


def merge_responses(
    packaged: Mapping[str, Response],
    skills: Mapping[str, Mapping[str, Response]],
    project: Mapping[str, Response],
    problems: Problems,
) -> dict[str, Response]:
    """Lay wording over wording: packaged, then the skills', then the project's.

    Names are one space for all skills: two skills that write the same one are a problem, unless
    the project's own wording decides.
    """
    found: dict[str, Response] = {}
    owner: dict[str, str] = {}
    for skill_id, responses in skills.items():
        for name, response in responses.items():
            first = owner.setdefault(name, skill_id)
            if first != skill_id and name not in project:
                problems.add(
                    response.place,
                    "duplicate_response",
                    f"the skill '{first}' has a response '{name}' too; at {found[name].place}",
                    "rename one of them, or write it once in the project's responses.yml",
                )
            found.setdefault(name, response)
    return {**packaged, **found, **project}


def sources_of(responses: Iterable[Response]) -> list[tuple[str, ButtonSource]]:
    """Every (response, source of buttons) of some responses."""
    return [
        (response.name, variant.buttons)
        for response in responses
        for variant in response.variants
        if isinstance(variant.buttons, ButtonSource)
    ]


def button_sources(
    tools: Collection[str], own: Iterable[Response], shared: Iterable[Response]
) -> frozenset[str]:
    """Names of a skill's tools that its own or the project's responses take buttons from."""
    named = {source.tool for _, source in (*sources_of(own), *sources_of(shared))}
    return frozenset(named & set(tools))
