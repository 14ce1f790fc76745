"""What came of scenarios: for a terminal, for JUnit readers, as JSON, and a folder for each.

Owns the record of one scenario's result and its forms. Printing, and the exit code, is
``voice.cli.test_command``.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from runtime.agent import Json
from voice.audio.files import write_wav
from voice.replay import timeline_text
from voice.replay.events_file import write_events
from voice.replay.measures import measure
from voice.replay.report import render_report
from voice.replay.runner import ReplayResult
from voice.replay.scenarios.checks import Failure
from voice.replay.scenarios.model import Scenario
from voice.replay.timeline import Timeline, build_timeline

__all__ = [
    "ScenarioResult",
    "as_json",
    "details",
    "junit",
    "one_line",
    "summary",
    "write_folder",
]

_AROUND_MS: Final = 4000.0
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_A_NAME: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario that was run."""

    scenario: Scenario
    failures: tuple[Failure, ...]
    """Empty = it passed."""
    warnings: tuple[str, ...]
    call: ReplayResult | None
    """None: the call never came to its end."""
    took_s: float
    """Real time."""

    @property
    def passed(self) -> bool:
        """Whether all that was expected happened, and nothing went wrong."""
        return not self.failures

    @property
    def timeline(self) -> Timeline | None:
        """The call's bars."""
        return None if self.call is None else build_timeline(self.call.events, self.call.recording)

    @property
    def call_s(self) -> float:
        """Length of the call in its own time."""
        return 0.0 if self.call is None else self.call.duration_ms / 1000


# ------------------------------------------------------------------ terminal


def one_line(result: ScenarioResult) -> Text:
    """Write how it went, and how long it took."""
    mark = ("✓ ", "green") if result.passed else ("✗ ", "bold red")
    times = f"  {result.call_s:.1f} s of call in {result.took_s:.2f} s"
    return Text.assemble(mark, result.scenario.name, (times, "grey50"))


def details(result: ScenarioResult) -> RenderableType:
    """Write warnings, and for each failure what was seen and the call around it."""
    parts: list[RenderableType] = [Text(f"warning: {w}", "yellow") for w in result.warnings]
    timeline = result.timeline
    shown: list[float | None] = []
    for failure in result.failures:
        parts.append(Text(failure.what, "bold"))
        where = f" ({failure.place})" if failure.place else ""
        parts.append(Padding(Text(f"{failure.seen}{where}"), (0, 0, 0, 2)))
        if timeline is not None and failure.at_ms not in shown:
            shown.append(failure.at_ms)
            around = _around(timeline, failure.at_ms)
            parts.append(Padding(timeline_text.decisions(around), (0, 0, 0, 4)))
    return Padding(Group(*parts), (0, 0, 0, 4))


def _around(timeline: Timeline, at_ms: float | None) -> Timeline:
    """What happened some seconds before and after; all of it without a moment."""
    if at_ms is None:
        return timeline
    first, last = at_ms - _AROUND_MS, at_ms + _AROUND_MS
    return replace(
        timeline,
        decisions=tuple(item for item in timeline.decisions if first <= item.t_ms <= last),
        words=tuple(words for words in timeline.words if first <= words.span.end_ms <= last),
        lines=tuple(
            line
            for line in timeline.lines
            if line.span is not None and first <= line.span.end_ms <= last
        ),
    )


def summary(results: Iterable[ScenarioResult]) -> Text:
    """Count."""
    found = list(results)
    failed = sum(not result.passed for result in found)
    took_s = sum(result.took_s for result in found)
    call_s = sum(result.call_s for result in found)
    count = f"{failed} of {len(found)} failed" if failed else f"{len(found)} passed"
    speed = call_s / max(took_s, 1e-9)
    return Text.assemble(
        (count, "bold red" if failed else "green"),
        (f" in {took_s:.1f} s, {speed:.0f} × real time", "grey50"),
    )


# ------------------------------------------------------------------ files


def junit(results: Iterable[ScenarioResult], suite: str) -> bytes:
    """Write JUnit's XML, as CI systems read it: one suite, a case for each scenario."""
    found = list(results)
    root = ET.Element("testsuites")
    top = ET.SubElement(
        root,
        "testsuite",
        name=_xml(suite),
        tests=str(len(found)),
        failures=str(sum(not result.passed for result in found)),
        errors="0",
        skipped="0",
        time=f"{sum(result.took_s for result in found):.3f}",
    )
    for result in found:
        scenario = result.scenario
        case = ET.SubElement(
            top,
            "testcase",
            classname=_xml(scenario.file),
            name=_xml(scenario.name),
            file=_xml(scenario.file),
            time=f"{result.took_s:.3f}",
        )
        if result.failures:
            first = result.failures[0]
            text = "\n".join(f"{f.what}\n  {f.seen} {f.place}".rstrip() for f in result.failures)
            failure = ET.SubElement(case, "failure", message=_xml(first.what), type="expectation")
            failure.text = _xml(text)
        if result.warnings:
            ET.SubElement(case, "system-out").text = _xml("\n".join(result.warnings))
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True)


def _xml(text: str) -> str:
    """XML has no way to write control characters, or half of a surrogate pair."""
    return _NOT_XML.sub("\ufffd", text)


def as_json(results: Iterable[ScenarioResult]) -> dict[str, Json]:
    """Return all results as JSON."""
    found = list(results)
    return {
        "passed": sum(result.passed for result in found),
        "failed": sum(not result.passed for result in found),
        "scenarios": [_as_json(result) for result in found],
    }


def _as_json(result: ScenarioResult) -> Json:
    failures: list[Json] = [
        {"what": f.what, "seen": f.seen, "at_ms": f.at_ms, "place": f.place}
        for f in result.failures
    ]
    return {
        "name": result.scenario.name,
        "file": result.scenario.file,
        "passed": result.passed,
        "call_ms": round(result.call_s * 1000),
        "took_s": round(result.took_s, 3),
        "failures": failures,
        "warnings": list(result.warnings),
    }


def write_folder(out: Path, result: ScenarioResult) -> None:
    """Write ``report.html``, ``call.wav`` and ``events.jsonl`` into a folder below ``out``.

    Raises:
        OSError: it can't be written.
    """
    call, timeline = result.call, result.timeline
    if call is None or timeline is None:
        return
    scenario, recording = result.scenario, call.recording
    folder = out / _NOT_A_NAME.sub("-", Path(scenario.file).with_suffix("").as_posix()).strip("-.")
    folder.mkdir(parents=True, exist_ok=True)
    facts = (("scenario", scenario.file), ("channel", scenario.channel))
    page = render_report(scenario.name, timeline, measure(timeline), recording, facts=facts)
    both = np.stack([recording.microphone, recording.heard], axis=1)
    write_wav(folder / "call.wav", both, recording.rate_hz)
    write_events(folder / "events.jsonl", call.events)
    # half of a surrogate pair in somebody's words can't be UTF-8
    (folder / "report.html").write_bytes(page.encode("utf-8", "replace"))
