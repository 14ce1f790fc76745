"""A project and a scenario put together in virtual time, and what came of it.

Owns the composition of a scenario's call: quick scripted engines where the words are known, the
agent plane in the same loop, with names and ids that are the same each time; and the verdict. The
call itself is ``voice.replay.scenarios.player``; replays of recorded callers are ``virtual_call``.
"""

import json
import time
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from runtime.agent import Json
from runtime.conversation.events import MemorySet
from runtime.errors import AgentError, ProjectError
from runtime.models.ports import ChatModel
from runtime.models.scripted_model import ScriptedModel, parse_steps
from runtime.plane import InLoopAgent
from runtime.project.model import EngineSpec, Project
from runtime.store.memory_store import MemoryStore
from voice.call.ports import Engines
from voice.cli.engines import STT_LATENCY_S, TTS_LATENCY_S, build_engines
from voice.cli.virtual_call import patient_models
from voice.replay.measures import measure
from voice.replay.scenarios.checks import Failure, check
from voice.replay.scenarios.evidence import gather
from voice.replay.scenarios.model import Expectation, ProblemWas, Scenario, Sequence
from voice.replay.scenarios.player import PlayedScenario, play
from voice.replay.scenarios.report import ScenarioResult
from voice.replay.scenarios.wall import OutOfTimeError, WallWatch, watched
from voice.replay.scenarios.wording import name_of
from voice.replay.timeline import build_timeline
from voice.replay.virtual_loop import run_virtual

__all__ = ["TtsName", "run_scenario"]

TtsName = Literal["project", "local", "scripted"]

_CONVERSATION: Final = "scenario"


@dataclass(frozen=True, slots=True)
class _Call:
    played: PlayedScenario
    values: tuple[tuple[str, Json], ...]
    """Every memory write, in order; the events hide personal values."""


def run_scenario(
    project: Project, scenario: Scenario, *, tts: TtsName = "scripted", wall_s: float = 120.0
) -> ScenarioResult:
    """Make the scenario's call and compare.

    Args:
        project: a loaded project.
        scenario: one of its scenarios.
        tts: ``scripted`` = tones at the pace of speech; else a real voice.
        wall_s: longest real time.

    Raises:
        ProjectError: a model or a custom engine can't be made.
        ProviderError: an engine's model can't be loaded.
    """
    begun = time.perf_counter()
    engines = _engines(project, scenario, tts)
    script = _script(scenario)
    models = (script,) if script is not None else patient_models(project)
    call: _Call | None = None
    verdict = _Verdict(scenario)
    try:
        with watched(project.root, wall_s) as watch:
            made = run_virtual(_perform(project, scenario, engines, models))
            watch.check()
            call = made
            verdict.compare(call)
    except OutOfTimeError as error:
        took = f"it took more than {wall_s:g} s of real time"
        if call is not None:
            failure = verdict.out_of_time(took)
            took_s = time.perf_counter() - begun
            failures = (*verdict.failures, failure)
            return ScenarioResult(scenario, failures, (), call.played.result, took_s)
        where = f"in {error.where}" if error.where else "outside of the project's own code"
        return _broken(scenario, "the call must come to its end", f"{took}, and was {where}", begun)
    except ProjectError:
        raise
    except AgentError as error:
        return _broken(scenario, "the call can be made", str(error), begun)
    return _judge(scenario, call, verdict.failures, script, watch, time.perf_counter() - begun)


def _broken(scenario: Scenario, what: str, seen: str, begun: float) -> ScenarioResult:
    failure = Failure(what, seen, None, str(scenario.place))
    return ScenarioResult(scenario, (failure,), (), None, time.perf_counter() - begun)


# ------------------------------------------------------------------ the call


async def _perform(
    project: Project, scenario: Scenario, engines: Engines, models: tuple[ChatModel, ...]
) -> _Call:
    store = MemoryStore()
    agent = InLoopAgent(
        project,
        models=models,
        store=store,
        new_conversation=lambda _: _CONVERSATION,
        setup=tuple((seed.namespace, seed.name, seed.value) for seed in scenario.seeds),
    )
    latency_ms = round(STT_LATENCY_S * 1000)
    try:
        played = await play(scenario, agent=agent, engines=engines, stt_latency_ms=latency_ms)
    finally:
        await agent.aclose()
        await engines.stt.aclose()
        await engines.tts.aclose()
    facts = [event.fact for event in await store.load(_CONVERSATION)]
    values = tuple(
        (f"{fact.namespace}.{fact.name}", cast("Json", json.loads(fact.value)))
        for fact in facts
        if isinstance(fact, MemorySet)
    )
    return _Call(played, values)


def _engines(project: Project, scenario: Scenario, tts: TtsName) -> Engines:
    """Tones and known words where they do; the project's own ears for recordings."""
    channel = project.channels
    if not scenario.needs_ears:
        channel = replace(channel, stt=EngineSpec("scripted"))  # replaced by the player's
    elif channel.stt.name == "scripted":
        channel = replace(channel, stt=EngineSpec("local"))
    if tts != "project":
        options = (("latency_ms", round(TTS_LATENCY_S * 1000)),) if tts == "scripted" else ()
        channel = replace(channel, tts=EngineSpec(tts, options))
    # the sure detector knows real voices; the made one is judged by the quick detector alone
    return build_engines(channel, "virtual", silero=scenario.needs_ears)


def _script(scenario: Scenario) -> ScriptedModel | None:
    if scenario.model is None:
        return None
    steps = parse_steps(scenario.model.steps)
    return ScriptedModel(steps, repeat_last=scenario.model.repeat_last)


# ------------------------------------------------------------------ the verdict


class _Verdict:
    """The expectations of a scenario, compared one by one: an author's pattern may never end."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._at: Expectation | None = None
        """The one that is being compared."""
        self.failures: list[Failure] = []

    def compare(self, call: _Call) -> None:
        """Compare all of them, and look for problems that none of them allows."""
        result = call.played.result
        timeline = build_timeline(result.events, result.recording)
        evidence = gather(result.events, measure(timeline).interruptions, call.values)
        for expectation in self._scenario.expect:
            self._at = expectation
            self.failures += check((expectation,), evidence)
        self._at = None
        self.failures += _unfinished(self._scenario, call.played)
        allowed = _allowed(self._scenario.expect)
        for item in evidence.named("problem"):
            code = item.text("code") or item.text("reason")
            if code not in allowed:
                detail = item.text("detail")
                seen = f"{code}: {detail}" if detail else code
                self.failures.append(Failure("no problem", seen, item.at.t_ms))

    def out_of_time(self, took: str) -> Failure:
        """Say which one did not come to its end."""
        if self._at is None:
            return Failure("the call can be looked at", took, None, str(self._scenario.place))
        what = f"{name_of(self._at)}: the comparison must come to its end"
        mend = f"{took}; a pattern with a repeat inside of a repeat, such as (.*)*, may never end"
        return Failure(what, mend, None, str(self._at.place))


def _judge(
    scenario: Scenario,
    call: _Call,
    failures: list[Failure],
    script: ScriptedModel | None,
    watch: WallWatch,
    took_s: float,
) -> ScenarioResult:
    result = call.played.result
    if "never_started" in result.failures:
        failures.append(Failure("the call starts", "it never did", None))
    warnings = [
        f"{held.where} held the call up for {held.ms:.0f} ms of real time; live, such code delays "
        "every other turn: await instead, or use asyncio.to_thread"
        for held in watch.held
    ]
    if script is not None and scenario.model is not None:
        asked, steps = len(script.requests), len(scenario.model.steps)
        if script.unexpected:
            seen = f"it has {steps} steps and was asked {asked} times"
            failures.append(Failure("the model's script is long enough", seen, None))
        elif asked < steps and not scenario.model.repeat_last:
            warnings.append(f"the model was asked {asked} times; its script has {steps} steps")
    return ScenarioResult(scenario, tuple(failures), tuple(warnings), result, took_s)


def _unfinished(scenario: Scenario, played: PlayedScenario) -> list[Failure]:
    failures: list[Failure] = []
    ended_by = played.result.recording.ended_by
    if ended_by == "time":
        limit = f"the call was not over after {scenario.limit_ms / 60_000:g} min"
        doing = ", ".join(played.open_at_end)
        seen = limit + (f"; still open: {doing}" if doing else "; nothing was open")
        failures.append(Failure("the call ends", seen, None, str(scenario.place)))
    for wait in played.waits:
        seen = f"{wait}; the call was ended by {'its limit' if ended_by == 'time' else ended_by}"
        failures.append(Failure("every line of the caller comes", seen, None, str(scenario.place)))
    return failures


def _allowed(expect: tuple[Expectation, ...]) -> set[str]:
    codes: set[str] = set()
    for expectation in expect:
        match expectation:
            case ProblemWas(code=code):
                codes.add(code)
            case Sequence(steps=steps):
                codes |= _allowed(steps)
            case _:
                pass
    return codes
