"""Reads ``model_groups`` of ``integrations.yml``, and the ``llm`` of a Maestro project.

Owns the keys of a model by its provider. Which providers exist is known here by name only;
building models is the model factory's.
"""

from collections.abc import Mapping as MappingABC

from runtime.agent import Json
from runtime.errors import Place
from runtime.project.engine_names import check_engine, check_url
from runtime.project.fields import Fields
from runtime.project.model import ModelSpec
from runtime.project.orchestrator_file import DEFAULT_GROUP
from runtime.project.problems import Problems
from runtime.project.yaml_nodes import Mapping, Node, Scalar

__all__ = ["EMBEDDING_PROVIDERS", "read_groups"]

_REQUEST_KEYS = frozenset(
    {
        "api_base",
        "api_key",
        "frequency_penalty",
        "max_tokens",
        "presence_penalty",
        "reasoning_effort",
        "seed",
        "temperature",
        "timeout",
        "top_p",
    }
)
_PROVIDER_KEYS: MappingABC[str, frozenset[str]] = {
    "openai": _REQUEST_KEYS,
    "azure": _REQUEST_KEYS | {"api_version", "deployment"},
    "offline": frozenset(),
}
EMBEDDING_PROVIDERS = ("azure", "openai")
_FREE = "scripted"
"""Takes any options: it is for tests."""
_PROVIDERS = (*_PROVIDER_KEYS, _FREE)
_GONE = "rules"
_NEEDS_BASE = "azure"


def read_groups(top: Fields, problems: Problems) -> dict[str, tuple[ModelSpec, ...]]:
    """Read every group, by id; each has at least one model unless a problem was noted."""
    groups: dict[str, tuple[ModelSpec, ...]] = {}
    places: dict[str, Place] = {}
    inline = top.entry("llm")
    if inline is not None:
        groups[DEFAULT_GROUP] = (_model(inline.value, "llm", problems),)
        places[DEFAULT_GROUP] = inline.place
    written = top.items("model_groups")
    for node in written:
        group = Fields(node, problems, "model_groups", node.place, "id", is_item=True)
        group_id = group.required_text("id")
        models = tuple(_model(item, "model", problems) for item in group.items("models"))
        group.done()
        if group_id and group_id in groups:
            problems.add(
                node.place,
                "duplicate_id",
                f"the model group '{group_id}' is written twice; first at {places[group_id]}",
                "give it another id",
            )
            continue
        if not models and not isinstance(group.node("models"), Mapping | Scalar):
            group.problem(
                node.place, "missing_key", "a model group needs at least one model", "add 'models'"
            )
        if group_id:
            groups[group_id] = models
            places[group_id] = node.place
    # What is written in another shape is told, and is not missing.
    if not groups and not written and not isinstance(top.node("model_groups"), Mapping | Scalar):
        problems.add(
            top.place, "missing_key", "'model_groups' is missing", "add a group with one model"
        )
    return groups


def _model(node: Node, name: str, problems: Problems) -> ModelSpec:
    fields = Fields(node, problems, name, node.place, "provider")
    entry = fields.entry("provider")
    provider = fields.required_text("provider")
    place = entry.value.place if entry else node.place
    if provider == _GONE:
        problems.add(
            place,
            "unknown_value",
            f"there is no engine called '{_GONE}' any more",
            "write 'offline', which needs no file: it follows the skills themselves",
        )
        fields.rest()
        return ModelSpec(provider=provider, model="", place=node.place)
    if provider:
        check_engine(provider, _PROVIDERS, (), place, problems)
    keys = _PROVIDER_KEYS.get(provider)
    options = _options(fields, keys, problems) if keys is not None else ()
    if provider == _NEEDS_BASE and fields.entry("api_base") is None:
        fields.problem(
            fields.place,
            "missing_key",
            f"'{fields.path('api_base')}' is missing",
            "add 'api_base: https://<resource>.openai.azure.com'",
        )
    if provider == _NEEDS_BASE and fields.entry("api_key") is None:
        fields.problem(
            fields.place,
            "missing_key",
            f"'{fields.path('api_key')}' is missing",
            "add 'api_key: ${AZURE_OPENAI_API_KEY}'",
        )
    model = _name(fields, provider, dict(options))
    if keys is None:
        options = fields.rest()
    fields.done()
    return ModelSpec(provider=provider, model=model, options=options, place=node.place)


def _name(fields: Fields, provider: str, options: MappingABC[str, Json]) -> str:
    """The model's name as the server knows it: on Azure that is the deployment's."""
    deployment = options.get("deployment")
    if isinstance(deployment, str):
        fields.text("model")
        return deployment
    if provider in ("openai", "azure"):
        return fields.required_text("model")
    return fields.text("model", "")


def _options(
    fields: Fields, keys: frozenset[str], problems: Problems
) -> tuple[tuple[str, Json], ...]:
    """Read a provider's known options."""
    options: dict[str, Json] = {}
    for key in sorted(keys):
        value: Json
        match key:
            case "api_key":
                value = fields.secret(key)
            case "temperature":
                value = fields.number(key, least=0.0, most=2.0)
            case "top_p":
                value = fields.number(key, least=0.0, most=1.0)
            case "frequency_penalty" | "presence_penalty":
                value = fields.number(key, least=-2.0, most=2.0)
            case "timeout":
                value = fields.number(key, least=0.1, most=600.0)
            case "seed":
                value = fields.whole(key, 0) if fields.node(key) is not None else None
            case "max_tokens":
                value = fields.whole(key, 0, least=1) or None
            case "api_base":
                value = fields.text(key)
                if value is not None:
                    _check_base(fields, key, value, problems)
            case _:
                value = fields.text(key)
        if value is not None:
            options[key] = value
    return tuple(options.items())


def _check_base(fields: Fields, key: str, value: str, problems: Problems) -> None:
    entry = fields.entry(key)
    check_url(value, fields.path(key), entry.value.place if entry else fields.place, problems)
