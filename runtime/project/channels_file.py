"""Reads ``channels`` of ``integrations.yml``: how callers reach the agent, and the call's settings.

Owns the keys of a channel. Which speech engines exist is known here by name only; building them is
the voice plane's.
"""

import dataclasses
from dataclasses import dataclass

from runtime.agent import InterruptionSettings, TurnTakingSettings
from runtime.project.engine_names import check_engine
from runtime.project.fields import Fields
from runtime.project.model import ChannelSpec, EngineSpec
from runtime.project.problems import Problems

__all__ = ["VoiceChannel", "read_channels"]

_SPEECH = ("local", "scripted")
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
        fields = Fields(entry.value, problems, f"channels.{entry.key}", entry.place)
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
    fields.done(_LATER)
    return channel


def _engine(
    fields: Fields, problems: Problems, *, takes_voice: bool
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
