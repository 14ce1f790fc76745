"""Reads ``channels`` of ``integrations.yml``: how callers reach the agent, and the call's settings.

Owns the keys of a channel. Which speech engines exist is known here by name only; building them is
the voice plane's.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runtime.agent import InterruptionSettings, TurnTakingSettings
from runtime.project.engine_names import check_engine, check_url
from runtime.project.fields import Fields
from runtime.project.model import ChannelSpec, EngineSpec
from runtime.project.problems import Problems

__all__ = ["VoiceChannel", "read_channels"]

_SPEECH = ("local", "scripted")
_HEARING_KEYS = {"local": (), "scripted": ("latency_ms", "texts")}
_SPEAKING_KEYS = {"local": (), "scripted": ("latency_ms", "ms_per_char")}
"""What our own engines take beside ``name`` and ``voice``; those of authors take what they like."""
_LATER_SPEECH = ("deepgram", "openai")
_LATER = ("background_audio",)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceChannel:
    """The voice channel with the call settings that stand in it; None = the default elsewhere."""

    spec: ChannelSpec
    interruptions: InterruptionSettings
    turn_taking: TurnTakingSettings
    silence_timeout_ms: int | None
    pause_after_filler_ms: int
    pause_between_messages_ms: int


def read_channels(top: Fields, problems: Problems) -> VoiceChannel:
    """Read all channels and return the one that is enabled; the packaged one when none is."""
    used: VoiceChannel | None = None
    for entry in top.section("channels").keys():
        fields = Fields(
            entry.value, problems, f"channels.{entry.key}", entry.place, shorthand="enabled"
        )
        enabled = fields.flag("enabled", True)
        before = len(problems.found)
        channel = _channel(fields, entry.key, problems)
        if not enabled:
            # What is switched off may well name what this version has not.
            problems.found[before:] = [
                p for p in problems.found[before:] if p.code != "unsupported"
            ]
        elif used is None:
            used = channel
        else:
            problems.add(
                entry.place,
                "unsupported",
                f"a second voice channel besides '{used.spec.name}' is not supported yet in "
                "this version",
                "keep one, or write 'enabled: false' in the other",
            )
    return used or _channel(Fields(None, problems, "channels.voice", top.place), "voice", problems)


def _channel(fields: Fields, name: str, problems: Problems) -> VoiceChannel:
    stt, _ = _engine(fields.section("asr", "name"), problems, _HEARING_KEYS, takes_voice=False)
    tts, voice = _engine(fields.section("tts", "name"), problems, _SPEAKING_KEYS, takes_voice=True)
    has_silence = fields.node("silence_timeout") is not None
    silence_timeout_ms = fields.seconds_ms("silence_timeout", 0)
    max_calls = fields.whole("max_calls", 0, least=1, most=100_000)
    channel = VoiceChannel(
        spec=ChannelSpec(
            name=name,
            stt=stt,
            tts=tts,
            voice=voice,
            public_url=_public_url(fields, problems),
            auth_token=fields.secret("auth_token"),
            max_calls=max_calls or None,
        ),
        interruptions=_interruptions(fields.section("interruptions", "enabled")),
        turn_taking=_turn_taking(fields.section("turn_taking", "max_silence"), problems),
        silence_timeout_ms=silence_timeout_ms if has_silence else None,
        pause_after_filler_ms=fields.seconds_ms("pause_after_filler", 800, 60_000),
        pause_between_messages_ms=fields.seconds_ms("pause_between_messages", 1000, 60_000),
    )
    fields.done(_LATER)
    return channel


def _public_url(fields: Fields, problems: Problems) -> str | None:
    """The address itself; it may be an empty variable, where the request's own is meant."""
    url = fields.secret("public_url")
    entry = fields.entry("public_url")
    if url is None or entry is None:
        return None
    check_url(url, fields.path("public_url"), entry.value.place, problems)
    if "?" in url or "#" in url:
        fields.problem(
            entry.value.place,
            "bad_url",
            f"'{fields.path('public_url')}' is where the server is reached, and more is written",
            "write https://host or https://host/path, without '?' and '#'",
        )
    return url


def _engine(
    fields: Fields,
    problems: Problems,
    options: Mapping[str, Sequence[str]],
    *,
    takes_voice: bool,
) -> tuple[EngineSpec, str | None]:
    entry = fields.entry("name")
    name = fields.text("name", "local")
    check_engine(
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
    known = options.get(name)
    if known is None:
        return EngineSpec(name, fields.rest()), voice
    given = [(key, fields.json(key)) for key in known]
    fields.done()
    return EngineSpec(name, tuple(item for item in given if item[1] is not None)), voice


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
        entry = fields.entry("max_silence")
        problems.add(
            entry.value.place if entry else fields.place,
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
