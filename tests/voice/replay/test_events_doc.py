"""docs/events.md says what the events really are."""

import json
import re
from functools import cache
from pathlib import Path

from tests.voice.replay.test_replay import (
    barge_in,
    front_desk,
    run,
    says,
    scripted,
)
from voice.cli.virtual_call import replay_project
from voice.replay.at import parse_at
from voice.replay.script import CallerLine, Keys

_DOC = Path(__file__).parents[3] / "docs" / "events.md"
PROMISED = (
    "turn_started turn_ended reopened hold release commit flush interrupted suppressed say_started "
    "say_settled tool_started tool_settled late_outcome memory_set send_dropped silence filler key "
    "hang_up caller_said agent_said call_started call_ended problem model_called"
).split()


@cache
def documented() -> dict[str, tuple[set[str], dict[str, object]]]:
    """Fields and example of each event in the document."""
    found: dict[str, tuple[set[str], dict[str, object]]] = {}
    for part in re.split(r"^### ", _DOC.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        prose, _, example = body.partition("```json\n")
        fields = set(re.findall(r"`([a-z_]+)`", prose))
        if "as `tool_settled`" in prose:
            fields |= {"call_id", "tool", "outcome", "text"}
        found[name.strip()] = (fields, json.loads(example.partition("\n")[0]))
    return found


def test_every_promised_event_is_documented_with_an_example_of_its_own() -> None:
    assert set(PROMISED) <= set(documented())
    for name, (fields, example) in documented().items():
        assert list(example)[:2] == ["t_ms", "event"]
        assert example["event"] == name
        rest = list(example)[2:]
        assert rest == sorted(rest)
        assert set(rest) <= fields, name


def test_every_event_of_real_calls_is_documented_with_all_its_fields() -> None:
    calls = [
        run(barge_in()),
        run((CallerLine(Keys("5"), parse_at("agent_ends+500ms")),), words=()),
        replay_project(
            front_desk(),
            (
                says("audio_fixtures/clips/en_brooklyn_bridge.wav", "agent_ends+300ms"),
                says("audio_fixtures/clips/kw_no.wav", "tool_starts+2500ms"),
            ),
            engines=scripted(("When is the next free appointment?", "No, wait.")),
        ),
    ]
    seen = {item.event for call in calls for item in call.events}
    assert {"tool_started", "tool_settled", "commit", "key", "filler"} <= seen
    for call in calls:
        for item in call.events:
            assert item.event in documented(), item.event
            unknown = {name for name, _ in item.fields} - documented()[item.event][0]
            assert not unknown, (item.event, unknown)
