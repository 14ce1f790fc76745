"""A project, a recorded caller and the engines put together in virtual time.

Owns the composition of a replay: the engines that the project's channel names, run inside the loop
with declared latencies; the agent plane in the same loop, with names and ids that are the same each
time. The call itself is ``voice.replay.runner``; live calls are composed by ``serve_command``.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Literal, cast

from runtime.agent import Json
from runtime.models.factory import build_models
from runtime.models.ports import ChatModel, ChatRequest, ModelEvent
from runtime.plane import InLoopAgent
from runtime.project.model import ChannelSpec, EngineSpec, Project
from runtime.tasks import closing_stream
from voice.call.ports import Engines
from voice.cli.engines import STT_LATENCY_S, TTS_LATENCY_S, build_engines
from voice.hearing.stt_scripted import ScriptedLine, ScriptedStt
from voice.replay.runner import ReplayOptions, ReplayResult, replay
from voice.replay.script import CallerLine
from voice.replay.virtual_loop import VirtualLoop, run_virtual

EngineName = Literal["project", "local", "scripted"]

_NETWORKED = frozenset({"openai", "azure"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Which speech engines take part."""

    stt: EngineName = "project"
    """``project`` = what its voice channel names; ``scripted`` = knows the ``words``."""
    tts: EngineName = "project"
    words: tuple[str | ScriptedLine, ...] = ()
    """What the caller says: one text for each stretch of voice, or lines with times."""
    silero: bool = True
    """False = the WebRTC gate alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What differs on the agent's side of a replay."""

    models: tuple[ChatModel, ...] = ()
    """Instead of the project's own; empty = its own."""
    keep_prompts: Callable[[int, int, ChatRequest], None] | None = None
    """Is shown each request: (turn, round, request)."""
    setup: tuple[tuple[str, str, Json], ...] = ()
    """(namespace, name, value) of memory that the conversation begins with."""


def replay_project(
    project: Project,
    caller: tuple[CallerLine, ...],
    *,
    engines: EngineChoice | None = None,
    options: ReplayOptions | None = None,
    progress: Callable[[float], None] | None = None,
    agent: AgentOptions | None = None,
) -> ReplayResult:
    """Replay one call in virtual time, from loading the engines to the last task settled.

    Args:
        project: a loaded project.
        caller: what the caller does; speech at the line's rate.
        engines: which engines; None = the project's own.
        options: how the call is made.
        progress: called about once a second of the call's time with its ms.
        agent: what differs on the agent's side.

    Raises:
        ProjectError: a model or a custom engine can't be made.
        ProviderError: an engine's model can't be loaded.
    """
    choice = engines or EngineChoice()
    return run_virtual(replay_in_loop(project, caller, choice, options, progress, agent))


async def replay_in_loop(
    project: Project,
    caller: tuple[CallerLine, ...],
    choice: EngineChoice,
    options: ReplayOptions | None = None,
    progress: Callable[[float], None] | None = None,
    agent: AgentOptions | None = None,
) -> ReplayResult:
    """Do what ``replay_project`` does, in the virtual loop that runs this."""
    engines = _engines(project.channels, choice)
    chosen = agent or AgentOptions()
    plane = InLoopAgent(
        project,
        models=chosen.models or patient_models(project),
        new_conversation=lambda opened: f"replay-{opened.call}",
        keep_prompts=chosen.keep_prompts,
        setup=chosen.setup,
    )
    try:
        return await replay(
            caller, agent=plane, engines=engines, options=options, progress=progress
        )
    finally:
        await plane.aclose()
        await engines.stt.aclose()
        await engines.tts.aclose()


def patient_models(project: Project) -> tuple[ChatModel, ...]:
    """The project's models for virtual time, which waits for those behind a network.

    Raises:
        ProjectError: a model can't be made.
    """
    return tuple(
        _PatientModel(model) if spec.provider in _NETWORKED else model
        for spec, model in zip(project.model_group, build_models(project), strict=True)
    )


def _engines(channel: ChannelSpec, choice: EngineChoice) -> Engines:
    """Make what the channel names, but for what was chosen otherwise."""
    if choice.stt != "project":
        channel = replace(channel, stt=EngineSpec(choice.stt))
    if choice.tts != "project":
        latency = ("latency_ms", round(TTS_LATENCY_S * 1000))
        options = (latency,) if choice.tts == "scripted" else ()
        channel = replace(channel, tts=EngineSpec(choice.tts, options))
    engines = build_engines(channel, "virtual", silero=choice.silero)
    if choice.stt == "scripted":
        latency_ms = round(STT_LATENCY_S * 1000)
        return replace(engines, stt=ScriptedStt(choice.words, latency_ms=latency_ms))
    return engines


class _PatientModel(ChatModel):
    """A model behind a network: the call's time stands still while it is waited for.

    So a replay decides the same however long the model takes.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        loop = cast(VirtualLoop, asyncio.get_running_loop())
        async with closing_stream(self._model.stream(request)) as events:
            while True:
                with loop.outside():
                    event = await anext(events, None)
                if event is None:
                    return
                yield event

    async def aclose(self) -> None:
        await self._model.aclose()
