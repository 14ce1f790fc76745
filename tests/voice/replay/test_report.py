"""The report: one file, the same every time, safe with any words in it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from rich.console import Console

from tests.voice.replay.made_call import event, made_events, made_recording
from voice.call.events import CallEvent
from voice.replay import timeline_text
from voice.replay.events_file import event_line, write_events
from voice.replay.measures import measure
from voice.replay.report import render_report
from voice.replay.timeline import build_timeline

_VOID = {"meta", "link", "br", "img", "input", "hr"}


class _Page(HTMLParser):
    """Collects elements, and checks that they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _render(events: tuple[CallEvent, ...] = made_events(), title: str = "a call") -> str:
    timeline = build_timeline(events, made_recording())
    return render_report(title, timeline, measure(timeline), made_recording())


def _parse(html: str) -> _Page:
    page = _Page()
    page.feed(html)
    page.close()
    assert page.open == []
    return page


def test_the_page_needs_nothing_but_itself() -> None:
    html = _render()
    page = _parse(html)
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "img", "object", "embed")
        for name in ("src", "href", "xlink:href", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith(("data:audio/wav;base64,", "#"))
    outside = re.sub(r"data:audio/wav;base64,[A-Za-z0-9+/=]+", "", html)
    assert re.findall(r"(?:https?:)?//[a-z][\w.-]+", outside) == ["http://www.w3.org"]
    assert "url(" not in outside and "@import" not in outside


def test_the_picture_is_there_without_scripts() -> None:
    page = _parse(_render())
    tags = [tag for tag, _ in page.elements]
    assert tags.count("svg") == 2
    paths = [attributes for tag, attributes in page.elements if tag == "path"]
    assert len(paths) == 2
    assert all(len(attributes["d"] or "") > 1000 for attributes in paths)
    text = " ".join(page.text)
    for words in ("You could come in today", "Yeah, let's do that.", "look_up_order", "commit"):
        assert words in text


def test_words_are_only_ever_words() -> None:
    """A caller, an agent and a tool whose words are markup."""
    nasty = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    events = (
        *made_events()[:5],
        event(2500, "caller_said", text=nasty, final=True),
        event(2560, "turn_started", turn=2, reason=nasty, text=nasty),
        event(2600, "tool_started", call_id=1, tool=nasty, text=nasty),
        event(2700, "commit", reason=nasty, text=nasty),
        event(3000, "agent_said", say=4, text=nasty, heard_chars=5, state="cut"),
        event(3000, "say_settled", say=4, outcome="cut", heard_chars=5, started_ms=1, ended_ms=9),
    )
    page = _parse(_render(events, title=nasty))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_the_same_call_gives_the_same_page() -> None:
    assert _render() == _render()


def test_a_call_in_which_nothing_happened_can_be_drawn() -> None:
    page = _parse(_render(()))
    assert "Nobody said a word." in " ".join(page.text)


def test_an_event_is_one_line_with_its_time_first() -> None:
    line = event_line(event(12, "hold", voice_ms=40, audible=True, reason="voice"))
    assert line == '{"t_ms":12,"event":"hold","audible":true,"reason":"voice","voice_ms":40}'
    odd = event_line(event(1, "caller_said", text="a\nb\u2028c\x85", final=True))
    assert len(odd.splitlines()) == 1
    assert json.loads(odd)["text"] == "a\nb\u2028c\x85"


def test_the_events_file_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write_events(path, made_events())
    read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(item["t_ms"], item["event"]) for item in read] == [
        (item.t_ms, item.event) for item in made_events()
    ]


def test_half_a_surrogate_pair_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write_events(path, [event(1, "caller_said", text="\ud83d", final=True)])
    assert json.loads(path.read_text(encoding="utf-8"))["text"] == "\ud83d"


def test_the_terminal_shows_the_picture_the_decisions_and_the_figures() -> None:
    timeline = build_timeline(made_events(), made_recording())
    console = Console(width=100, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        console.print(timeline_text.picture(timeline, made_recording(), 100))
        console.print(timeline_text.decisions(timeline))
        console.print(timeline_text.summary(measure(timeline), timeline))
    text = captured.get()
    lines = text.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert sum("█" in line or "▄" in line for line in lines) == 2
    assert "with a little bi ✂ t of a wait" in text.replace("\n", " ")
    assert "705 ms" in text and "610 ms" in text
