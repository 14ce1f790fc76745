"""Reads ``integrations.yml``: model groups and the voice channel.

Owns the keys of that file. Which engines exist is known here by name only; building them belongs
to the model factory and to the voice plane.
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from runtime.agent import InterruptionSettings, Json, TurnTakingSettings
from runtime.errors import Place
from runtime.project.fields import Fields
from runtime.project.model import ChannelSpec, EngineSpec, ModelSpec
from runtime.project.problems import Problems, listed, nearest
from runtime.project.yaml_nodes import Node
from runtime.project.yaml_source import read_yaml

FILE = "integrations.yml"

_LATER = (
    "mcp_servers",
    "tool_providers",
    "tracker_store",
    "event_broker",
    "tracing",
    "metrics",
    "recordings",
)
_PROVIDER_KEYS: Mapping[str, frozenset[str]] = {
    "openai": frozenset({"api_base", "api_key", "temperature", "max_tokens"}),
    "rules": frozenset({"file"}),
}
_ANY_KEYS = "scripted"
_LATER_PROVIDERS = ("azure", "offline")
_SPEECH = ("local", "scripted")
_LATER_SPEECH = ("deepgram", "openai")
_MODULE_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceChannel:
    """The voice channel with the call settings that stand in it; None = the default elsewhere."""

    spec: ChannelSpec
    interruptions: InterruptionSettings
    turn_taking: TurnTakingSettings
    silence_timeout_ms: int | None
    pause_after_filler_ms: int
    pause_between_messages_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrationsFile:
    """What ``integrations.yml`` says, with defaults filled in."""

    model_groups: Mapping[str, tuple[ModelSpec, ...]]
    voice: VoiceChannel


def read_integrations(data: bytes, env: Mapping[str, str], problems: Problems) -> IntegrationsFile:
    """Read the file; what is wrong goes into ``problems`` and is replaced by its default."""
    top = Fields(read_yaml(data, FILE, problems, env), problems, "", Place(FILE))
    read = IntegrationsFile(
        model_groups=_groups(top, problems), voice=_voice_channel(top, problems)
    )
    top.done(_LATER)
    return read


# ------------------------------------------------------------------ models


def _groups(top: Fields, problems: Problems) -> dict[str, tuple[ModelSpec, ...]]:
    groups: dict[str, tuple[ModelSpec, ...]] = {}
    places: dict[str, Place] = {}
    for node in top.items("model_groups"):
        group = Fields(node, problems, "model_groups", node.place)
        group_id = group.required_text("id")
        models = tuple(_model(item, problems) for item in group.items("models"))
        group.done()
        if group_id in groups:
            problems.add(
                node.place,
                "duplicate_id",
                f"the model group '{group_id}' is written twice; first at {places[group_id]}",
                "give it another id",
            )
            continue
        if not models:
            problems.add(
                node.place, "missing_key", "a model group needs at least one model", "add 'models'"
            )
        groups[group_id] = models
        places[group_id] = node.place
    if not groups:
        problems.add(
            top.place, "missing_key", "'model_groups' is missing", "add a group with one model"
        )
    return groups


def _model(node: Node, problems: Problems) -> ModelSpec:
    fields = Fields(node, problems, "model", node.place)
    entry = fields.entry("provider")
    provider = fields.required_text("provider")
    place = entry.value.place if entry else node.place
    if provider:
        _check_name(provider, (*_PROVIDER_KEYS, _ANY_KEYS), _LATER_PROVIDERS, place, problems)
    model = fields.required_text("model") if provider == "openai" else fields.text("model", "")
    options = _known_options(fields, provider) if provider in _PROVIDER_KEYS else fields.rest()
    fields.done()
    return ModelSpec(provider=provider, model=model, options=options, place=node.place)


def _known_options(fields: Fields, provider: str) -> tuple[tuple[str, Json], ...]:
    options: dict[str, Json] = {}
    for key in sorted(_PROVIDER_KEYS[provider]):
        value: Json
        match key:
            case "api_key":
                value = fields.secret(key)
            case "temperature":
                value = fields.number(key, least=0.0, most=2.0)
            case "max_tokens":
                value = fields.whole(key, 0, least=1) or None
            case "file":
                value = fields.required_text(key)
            case _:
                value = fields.text(key)
        if value is not None:
            options[key] = value
    return tuple(options.items())


def _check_name(
    name: str,
    known: tuple[str, ...],
    later: tuple[str, ...],
    place: Place,
    problems: Problems,
) -> None:
    if name in known or _MODULE_PATH.fullmatch(name):
        return
    if name in later:
        problems.add(
            place,
            "unsupported",
            f"'{name}' is not supported yet in this version",
            f"write {listed(known)}",
        )
        return
    close = nearest(name, known)
    problems.add(
        place,
        "unknown_value",
        f"there is no engine called '{name}'",
        f"did you mean '{close}'?"
        if close
        else f"write {listed(known)}, or the module path of your own",
    )


# ------------------------------------------------------------------ the voice channel


def _voice_channel(top: Fields, problems: Problems) -> VoiceChannel:
    channels = top.section("channels")
    used: list[VoiceChannel] = []
    for entry in channels.keys():
        fields = Fields(entry.value, problems, f"channels.{entry.key}", entry.place)
        enabled = fields.flag("enabled", True)
        channel = _channel(fields, entry.key, problems)
        if not enabled:
            continue
        if used:
            problems.add(
                entry.place,
                "unsupported",
                f"a second voice channel besides '{used[0].spec.name}' is not supported yet in "
                "this version",
                "keep one, or write 'enabled: false' in the other",
            )
        used.append(channel)
    if used:
        return used[0]
    return _channel(Fields(None, problems, "channels.voice", top.place), "voice", problems)


def _channel(fields: Fields, name: str, problems: Problems) -> VoiceChannel:
    stt, _ = _engine(fields.section("asr"), problems, takes_voice=False)
    tts, voice = _engine(fields.section("tts"), problems, takes_voice=True)
    has_silence = fields.node("silence_timeout") is not None
    silence_timeout_ms = fields.seconds_ms("silence_timeout", 0)
    max_calls = fields.whole("max_calls", 0, least=1, most=100_000)
    channel = VoiceChannel(
        spec=ChannelSpec(
            name=name,
            stt=stt,
            tts=tts,
            voice=voice,
            public_url=fields.secret("public_url"),
            auth_token=fields.secret("auth_token"),
            max_calls=max_calls or None,
        ),
        interruptions=_interruptions(fields.section("interruptions")),
        turn_taking=_turn_taking(fields.section("turn_taking"), problems),
        silence_timeout_ms=silence_timeout_ms if has_silence else None,
        pause_after_filler_ms=fields.seconds_ms("pause_after_filler", 800, 60_000),
        pause_between_messages_ms=fields.seconds_ms("pause_between_messages", 1000, 60_000),
    )
    fields.done(("background_audio",))
    return channel


def _engine(
    fields: Fields, problems: Problems, *, takes_voice: bool
) -> tuple[EngineSpec, str | None]:
    entry = fields.entry("name")
    name = fields.text("name", "local")
    _check_name(
        name, _SPEECH, _LATER_SPEECH, entry.value.place if entry else fields.place, problems
    )
    voice = fields.text("voice") if takes_voice else None
    language_map = fields.entry("language_map")
    if language_map is not None:
        problems.add(
            language_map.place,
            "unsupported",
            f"'{fields.path('language_map')}' is not supported yet in this version",
            "take it away",
        )
    return EngineSpec(name, fields.rest()), voice


def _interruptions(fields: Fields) -> InterruptionSettings:
    packaged = InterruptionSettings()
    settings = dataclasses.replace(
        packaged,
        enabled=fields.flag("enabled", packaged.enabled),
        onset_ms=fields.whole("onset_ms", packaged.onset_ms, least=20, most=1000),
        resume_ms=fields.whole("resume_ms", packaged.resume_ms, most=5000),
        hold_max_ms=fields.whole("hold_max_ms", packaged.hold_max_ms, least=100, most=10_000),
        min_words=fields.whole("min_words", packaged.min_words, least=1, most=20),
        backchannels=_words(fields, "backchannels"),
        interrupt_words=_words(fields, "interrupt_words"),
    )
    fields.done()
    return settings


def _words(fields: Fields, key: str) -> tuple[str, ...] | None:
    # An empty list is a wish of its own (no word is one), a missing key means the packaged list.
    return fields.texts(key) if fields.node(key) is not None else None


def _turn_taking(fields: Fields, problems: Problems) -> TurnTakingSettings:
    packaged = TurnTakingSettings()
    least = fields.seconds_ms("min_silence", packaged.min_silence_ms, 10_000)
    most = fields.seconds_ms("max_silence", max(packaged.max_silence_ms, least), 20_000)
    fields.done()
    if most < least:
        problems.add(
            fields.place,
            "out_of_range",
            f"'{fields.path('max_silence')}' is shorter than 'min_silence'",
            "write a longer one",
        )
        return packaged
    return dataclasses.replace(
        packaged,
        min_silence_ms=least,
        max_silence_ms=most,
        collecting_max_ms=max(packaged.collecting_max_ms, most),
    )
