"""Which speech engines take part in a process, by the names of a project's channel.

Owns the mapping from a name (``local``, ``scripted``, or the module path of a custom engine) to an
engine, for live processes (a worker thread each) and for virtual time (computed in the loop,
answered after a declared latency). Engines are imported only when named: their models take a second
to load.
"""

import importlib
from typing import Final, Literal, cast

from runtime.errors import Place, Problem, ProjectError
from runtime.project.model import ChannelSpec, EngineSpec
from voice.call.ports import Engines
from voice.hearing.ports import SpeechToText, VoiceDetector
from voice.speaking.ports import TextToSpeech
from voice.workers import ThreadWorker, VirtualWorker, Worker

Time = Literal["live", "virtual"]

STT_LATENCY_S: Final = 0.08
TTS_LATENCY_S: Final = 0.03
"""What embedded engines take in virtual time, seconds: about what they take on one idle core."""
CALLS_PER_CORE_LOCAL: Final = 2
"""Calls that one core can transcribe with the embedded engine while others speak too."""


def build_engines(channel: ChannelSpec, time: Time, *, silero: bool = True) -> Engines:
    """Make the engines that the channel names; loads their models.

    Raises:
        ProjectError: a custom engine can't be imported, or the embedded one has no such voice.
        ProviderError: an engine's model can't be loaded.
    """
    if channel.tts.name == "local" and channel.voice is not None:
        _check_voice(channel.voice, channel.name)
    return Engines(
        _stt(channel.stt, time), _tts(channel.tts, time), _detector(silero), channel.voice
    )


async def preload(engines: Engines) -> None:
    """Load what an engine would else load with its first call.

    Raises:
        ProviderError: a model can't be loaded.
    """
    from voice.speaking.tts_local import HibariTts

    match engines.tts:
        case HibariTts() as tts:
            await tts.preload(engines.tts_voice)
        case _:
            pass


def suggested_max_calls(channel: ChannelSpec, cores: int) -> int:
    """How many calls to admit when nobody says: few with the embedded STT, else what a core
    paces.
    """
    per_core = CALLS_PER_CORE_LOCAL if channel.stt.name == "local" else 100
    return channel.max_calls or per_core * max(1, cores)


def _detector(silero: bool) -> VoiceDetector | None:
    if not silero:
        return None
    from voice.hearing.silero import SileroDetector

    return SileroDetector()


def _worker(name: str, time: Time, latency_s: float) -> Worker:
    return ThreadWorker(name) if time == "live" else VirtualWorker(latency_s)


def _stt(spec: EngineSpec, time: Time) -> SpeechToText:
    match spec.name:
        case "local":
            from voice.hearing.stt_local import LocalStt

            return LocalStt(_worker("stt", time, STT_LATENCY_S))
        case "scripted":
            from voice.hearing.stt_scripted import ScriptedStt

            texts = spec.option("texts")
            lines = [str(text) for text in texts] if isinstance(texts, list) else []
            return ScriptedStt(lines, latency_ms=_number(spec, "latency_ms", 0), cycle=True)
        case _:
            return cast("SpeechToText", _custom(spec))


def _tts(spec: EngineSpec, time: Time) -> TextToSpeech:
    match spec.name:
        case "local":
            from voice.speaking.tts_local import HibariTts

            return HibariTts(_worker("tts", time, TTS_LATENCY_S), seed=0)
        case "scripted":
            from voice.speaking.tts_scripted import ScriptedTts

            return ScriptedTts(
                ms_per_char=_number(spec, "ms_per_char", 60),
                delay_s=_number(spec, "latency_ms", 0) / 1000,
            )
        case _:
            return cast("TextToSpeech", _custom(spec))


def _check_voice(voice: str, channel: str) -> None:
    from runtime.project.problems import listed, nearest
    from voice.speaking.tts_local import voices_here

    here = voices_here()
    if voice in here:
        return
    close = nearest(voice, here)
    problem = Problem(
        Place("integrations.yml"),
        "unknown_value",
        f"'channels.{channel}.tts.voice' can't be '{voice}': the embedded engine has no such "
        "voice on this machine",
        f"did you mean '{close}'?" if close else f"write {listed(here)}, or take it away",
    )
    raise ProjectError([problem])


def _number(spec: EngineSpec, name: str, default: int) -> int:
    value = spec.option(name)
    return int(value) if isinstance(value, int | float) else default


def _custom(spec: EngineSpec) -> object:
    """Import ``package.module:Class`` (or ``package.module.Class``) and make it with its
    options.
    """
    path = spec.name.replace(":", ".")
    module, _, name = path.rpartition(".")
    try:
        make = getattr(importlib.import_module(module), name)
        return make(**dict(spec.options))
    except Exception as error:  # author code may raise anything while it is imported
        problem = Problem(
            Place("integrations.yml"),
            "custom_engine",
            f"the engine '{spec.name}' can't be made: {type(error).__name__}",
            "give the import path of a class and the options it takes",
        )
        raise ProjectError([problem]) from error
