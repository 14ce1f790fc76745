"""Builds the chat models of a project's group, in the order they are to be tried.

Owns which provider is which module; a module is imported only when a project names it. Trying the
next model when one fails is the turn's (``runtime.engine.turn``).
"""

import importlib
from collections.abc import Callable
from typing import cast

from runtime.agent import Json
from runtime.errors import Place, Problem, ProjectError
from runtime.models.ports import ChatModel
from runtime.project.model import ModelSpec, Project

__all__ = ["build_models"]


def build_models(project: Project) -> tuple[ChatModel, ...]:
    """Build the models of ``project.model_group``, first choice first.

    Raises:
        ProjectError: a model can't be built: names the place in ``integrations.yml`` and the cause.
    """
    return tuple(_build(spec, project.language) for spec in project.model_group)


def _build(spec: ModelSpec, language: str) -> ChatModel:
    match spec.provider:
        case "openai" | "azure":
            from runtime.models import openai_model

            return openai_model.from_options(spec.provider, spec.model, dict(spec.options))
        case "offline":
            from runtime.models.offline.model import OfflineModel

            return OfflineModel(language)
        case "scripted":
            return _scripted(spec)
        case _:
            return _custom(spec)


def _scripted(spec: ModelSpec) -> ChatModel:
    from runtime.models import scripted_model

    steps = spec.option("steps")
    try:
        parsed = scripted_model.parse_steps(cast("list[dict[str, Json]]", steps or []))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise _refused(spec.place, f"its 'steps' can't be read: {error}") from error
    return scripted_model.ScriptedModel(parsed, repeat_last=spec.option("repeat_last") is True)


def _custom(spec: ModelSpec) -> ChatModel:
    """An author's own: ``package.module`` (its class ``Model``) or ``package.module:Class``."""
    path, _, name = spec.provider.partition(":")
    try:
        made = cast(Callable[..., object], getattr(importlib.import_module(path), name or "Model"))
        return cast(ChatModel, made(spec.model, dict(spec.options)))
    except Exception as error:  # an author's module: whatever it raises is told with its place
        cause = f"{type(error).__name__} in {spec.provider}"
        raise _refused(spec.place, cause) from error


def _refused(place: Place, cause: str) -> ProjectError:
    return ProjectError(
        [
            Problem(
                place, "model_provider", f"the model can't be built: {cause}", "see the traceback"
            )
        ]
    )
