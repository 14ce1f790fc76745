"""Engines by the names of a channel: what can't be made is the author's to mend, with its place."""

from typing import Literal

import pytest

from runtime.errors import ProjectError
from runtime.project.model import ChannelSpec, EngineSpec
from voice.cli.engines import build_engines

_SCRIPTED = EngineSpec("scripted")


@pytest.mark.parametrize("time", ["live", "virtual"])
def test_a_voice_that_is_not_there_is_refused_when_the_engines_are_made(
    time: Literal["live", "virtual"],
) -> None:
    """``serve``, ``talk``, ``replay`` and ``test`` all make theirs here."""
    channel = ChannelSpec(name="phone", stt=_SCRIPTED, voice="nosuch")
    with pytest.raises(ProjectError) as refused:
        build_engines(channel, time, silero=False)
    (problem,) = refused.value.problems
    assert (problem.place.file, problem.code) == ("integrations.yml", "unknown_value")
    assert problem.message.startswith("'channels.phone.tts.voice' can't be 'nosuch'")
    assert "'heart'" in problem.mend


def test_the_voice_of_another_engine_is_its_own_to_know() -> None:
    channel = ChannelSpec(stt=_SCRIPTED, tts=_SCRIPTED, voice="nosuch")
    assert build_engines(channel, "virtual", silero=False).tts_voice == "nosuch"
