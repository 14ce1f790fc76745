"""The page in a headless Chromium against a real server, a recording as its microphone."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from voice.audio.files import read_sound, write_wav

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
CLIPS = ROOT / "audio_fixtures" / "clips"
RATE = 16000
MIC_S = 90
"""Longer than any call here: where the recording ends the microphone would be silent anyway."""
WAIT_MS = 25_000
"""For what comes in a second or two on an idle machine."""
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
]
COLOURS = ("ink", "soft", "caller", "agent", "hold", "commit", "tool")


# ---------------------------------------------------------------------- far ends


def clip(name: str) -> NDArray[np.int16]:
    """A recording at -26 dBFS."""
    samples = read_sound(CLIPS / f"{name}.wav", RATE).samples.astype(np.float64) / 32768
    loud = samples * 10 ** (-26 / 20) / np.sqrt(np.mean(samples**2))
    return np.clip(loud * 32768, -32768, 32767).astype(np.int16)


def recording(path: Path, clips: dict[float, str]) -> Path:
    """A caller on a quiet line, each clip at its second."""
    noise = np.random.default_rng(1).normal(0, 10, MIC_S * RATE)
    line = noise.astype(np.int16)
    for at_s, name in clips.items():
        samples = clip(name)
        start = int(at_s * RATE)
        line[start : start + len(samples)] += samples
    write_wav(path, line, RATE)
    return path


@contextmanager
def talking(project: Path) -> Generator[tuple[str, "subprocess.Popen[str]"]]:
    """``bargein talk`` as its own process: its address and the process."""
    command = [sys.executable, "-m", "voice.cli.main", "talk", str(project), "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert found is not None, "the server did not start"
            yield found[0], process
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front desk with a short greeting."""
    folder = tmp_path_factory.mktemp("project") / "front_desk"
    shutil.copytree(
        ROOT / "tests" / "projects" / "front_desk",
        folder,
        ignore=shutil.ignore_patterns("*.sqlite*"),
    )
    responses = folder / "responses.yml"
    text = responses.read_text(encoding="utf-8")
    kept = text[text.index("  utter_silence_check_in_1:") :]
    greeting = "  utter_session_start:\n    - Good morning, Harbour Clinic.\n"
    responses.write_text(f"responses:\n{greeting}{kept}", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def url(project: Path) -> Iterator[str]:
    with talking(project) as (address, _):
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Callable[..., Browser]]:
    """Start a Chromium with more flags."""
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    path = next(filter(None, found), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        yield lambda *more: playwright.chromium.launch(executable_path=path, args=[*FLAGS, *more])


@pytest.fixture(scope="module")
def browser(
    chromium: Callable[..., Browser], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """A browser whose microphone hears the caller."""
    caller = {
        4.0: "en_brooklyn_bridge",
        9.0: "bc_caller_okay_1",
        13.0: "en_shell_or_something",
    }
    wav = recording(tmp_path_factory.mktemp("microphone") / "caller.wav", caller)
    running = chromium(
        "--use-fake-ui-for-media-stream", f"--use-file-for-fake-audio-capture={wav}%noloop"
    )
    yield running
    running.close()


@dataclass
class Seen:
    """What a page did beside what it shows."""

    complaints: list[str] = field(default_factory=list[str])
    hosts: set[str] = field(default_factory=set[str])


@contextmanager
def opened(browser: Browser, url: str) -> Generator[tuple[Page, Seen]]:
    """The page in a fresh context."""
    context = browser.new_context(viewport=DESKTOP)
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    seen = Seen()
    page.on(
        "console",
        lambda m: seen.complaints.append(m.text) if m.type in {"error", "warning"} else None,
    )
    page.on("pageerror", lambda e: seen.complaints.append(str(e)))
    page.on("request", lambda r: seen.hosts.add(urlsplit(r.url).netloc))
    page.on("websocket", lambda w: seen.hosts.add(urlsplit(w.url).netloc))
    try:
        page.goto(url)
        yield page, seen
    finally:
        context.close()


def tab_to(page: Page, selector: str) -> None:
    """Reach an element as people without a mouse do."""
    for _ in range(40):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} can't be reached by Tab")


def boxes(page: Page) -> dict[str, object]:
    """Where the fixed parts of the page stand."""
    parts = ("header", "#strip", "#conversation", "#typed", "#turns-title", "#decisions-title")
    return {part: page.locator(part).bounding_box() for part in parts}


# ---------------------------------------------------------------------- the call


def test_a_whole_call_with_a_barge_in_by_keyboard_alone(browser: Browser, url: str) -> None:
    """A01: the caller talks over the agent; the page shows what was heard, and why it stopped."""
    with opened(browser, url) as (page, seen):
        places = boxes(page)
        tab_to(page, "#call")
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_have_text("Connected", timeout=WAIT_MS)
        assert page.evaluate("document.activeElement.id") == "hangup"

        # asked, answered at length
        question = page.locator("#lines .caller", has_text=re.compile("bridge|brooklyn", re.I))
        expect(question.first).to_be_visible(timeout=WAIT_MS)
        answer = page.locator("#lines .agent", has_text="what people usually ask")
        expect(answer).to_contain_text("answered after", timeout=WAIT_MS)
        expect(page.locator("#floor")).to_have_text(re.compile("speaking|paused|about"))

        # a listener's "okay" only pauses it, words take the floor
        held = page.locator("#decisions .hold:not(.quiet)")
        expect(held.first).to_have_text(re.compile(r"held(voice|speech) \d+ ms"), timeout=WAIT_MS)
        went_on = page.locator("#decisions .release:not(.quiet)")
        expect(went_on.first).to_contain_text("went on", timeout=WAIT_MS)
        interrupted = page.locator("#decisions .commit")
        expect(interrupted).to_contain_text("interrupted", timeout=WAIT_MS)
        expect(answer).to_have_attribute("data-state", "cut")
        expect(answer.locator(".cut")).to_have_text("✂ you interrupted here")
        expect(answer.locator("s")).not_to_be_empty()
        heard = answer.locator(".body").evaluate("body => body.firstChild.textContent")
        assert heard.startswith("That's not what people usually ask")
        tab_to(page, "#lines .more")
        page.keyboard.press("Enter")
        expect(answer.locator("s")).to_have_text(re.compile(r"here at the clinic\?$"))
        turns = page.locator("#turns tbody tr")
        spoken = turns.filter(has_text="your words")
        for nth in (0, 1):
            expect(spoken.nth(nth)).to_have_text(
                re.compile(r"words\d+\.\d\d s\d+\.\d\d s$"), timeout=WAIT_MS
            )

        # typed words reach the agent, its tool runs, and its answer is timed
        tab_to(page, "#text")
        page.keyboard.type("How soon can I get in?")
        page.keyboard.press("Enter")
        expect(page.locator("#decisions .tool_started")).to_have_text(
            re.compile(r"find appointment ran 3\.\d\d s → done"), timeout=WAIT_MS
        )
        offer = page.locator("#lines .agent", has_text="Thursday at half past ten")
        expect(offer).to_contain_text("answered after", timeout=WAIT_MS)

        # and so do keys
        tab_to(page, "#keypad summary")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        keyed = page.locator("#lines .caller", has_text="on the keypad")
        expect(keyed.locator(".body")).to_have_text("1", timeout=WAIT_MS)
        expect(turns.last).to_have_text(re.compile(r"your keys–\d+\.\d\d s"), timeout=WAIT_MS)

        page.keyboard.press("Escape")
        expect(page.locator("#status")).to_have_text("You hung up.", timeout=WAIT_MS)
        assert page.evaluate("document.activeElement.id") == "call"
        assert page.locator("#lines [data-state=speaking]").count() == 0

        page.keyboard.press("Shift+Tab")
        tab_to(page, "#keypad summary")
        page.keyboard.press("Enter")  # closed again
        assert boxes(page) == places, "something jumped"
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert seen.complaints == []
        assert seen.hosts == {urlsplit(url).netloc}


def test_a_refused_microphone_is_named_and_the_call_can_be_typed(
    chromium: Callable[..., Browser], url: str
) -> None:
    with chromium() as browser, opened(browser, url) as (page, seen):
        session = page.context.new_cdp_session(page)
        session.send(
            "Browser.setPermission",
            {"permission": {"name": "microphone"}, "setting": "denied", "origin": url},
        )
        page.click("#call")
        expect(page.locator("#status")).to_contain_text("microphone is blocked", timeout=WAIT_MS)
        expect(page.locator("#status")).to_have_attribute("data-state", "error")
        page.click("#silent")
        expect(page.locator("#floor")).to_have_text("Waiting for you to type", timeout=WAIT_MS)
        page.fill("#text", "Until when are you open today?")
        page.press("#text", "Enter")
        answer = page.locator("#lines .agent", has_text="Monday to Friday")
        expect(answer).to_contain_text("answered after", timeout=WAIT_MS)
        page.click("#hangup")
        expect(page.locator("#status")).to_have_text("You hung up.", timeout=WAIT_MS)
        expect(answer.locator(".cut")).to_have_text(re.compile("call ended here|heard none"))
        assert seen.complaints == []


def test_a_server_that_goes_away_is_named(browser: Browser, project: Path) -> None:
    with talking(project) as (address, process), opened(browser, address) as (page, _):
        page.click("#call")
        expect(page.locator("#lines .agent")).to_have_count(1, timeout=WAIT_MS)
        process.kill()
        status = page.locator("#status")
        expect(status).to_have_text("The connection to the server was lost.", timeout=WAIT_MS)
        expect(page.locator("#floor")).to_have_text("The call is over")
        page.click("#call")
        expect(status).to_have_text(
            "The server does not answer. Is it still running?", timeout=WAIT_MS
        )
        expect(page.locator("#call")).to_be_focused()


# ---------------------------------------------------------------------- before a call

NAMELESS = """() => {
  const name = (e) => e.ariaLabel || e.textContent.trim() || e.alt
    || [...(e.labels ?? [])].map((l) => l.textContent.trim()).join(" ")
    || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent;
  const wanted = "button, input, canvas, summary, section, table th, [role=log], [role=region]";
  return [...document.querySelectorAll(wanted)].filter((e) => !name(e)).map((e) => e.outerHTML);
}"""
DANGLING = """() => ["aria-labelledby", "for"].flatMap((attribute) =>
  [...document.querySelectorAll(`[${attribute}]`)].map((e) => e.getAttribute(attribute)))
  .filter((id) => document.querySelectorAll(`[id="${id}"]`).length !== 1)"""


def test_the_page_can_be_read_by_machines(browser: Browser, url: str) -> None:
    with opened(browser, url) as (page, seen):
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.title()
        for role in ("banner", "main"):
            expect(page.get_by_role(role)).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("status")).to_have_text("Not connected")
        expect(page.get_by_label("Type instead of speaking")).to_be_disabled()
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(DANGLING) == []
        assert (
            page.locator("img:not([alt]), [tabindex]:not([tabindex='0'], [tabindex='-1'])").count()
            == 0
        )
        assert page.locator("th:not([scope])").count() == 0
        # what a screen reader says aloud would come back as the caller's voice
        for log in page.get_by_role("log").all():
            assert log.get_attribute("aria-live") == "off"
        assert seen.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_of_text_stands_out(browser: Browser, url: str, scheme: str) -> None:
    with opened(browser, url) as (page, _):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        read = "n => getComputedStyle(document.documentElement).getPropertyValue(n).trim()"

        def colour(name: str) -> str:
            return page.evaluate(read, f"--{name}")

        pairs = [(text, ground) for text in COLOURS for ground in ("card", "sunk", "bg")]
        pairs += [("on-primary", "primary"), ("on-danger", "danger")]
        weak = [p for p in pairs if contrast(colour(p[0]), colour(p[1])) < 4.5]
        assert weak == []


def test_the_page_fits_a_phone(browser: Browser, url: str) -> None:
    with opened(browser, url) as (page, _):
        page.set_viewport_size(PHONE)
        page.click("#keypad summary")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        small = [
            button.inner_text()
            for button in page.get_by_role("button").all()
            if (button.bounding_box() or {"height": 0})["height"] < 44
        ]
        assert small == [], "too small for a thumb"


def test_the_page_may_load_and_reach_nothing_else(browser: Browser, url: str) -> None:
    with opened(browser, url) as (page, seen):
        blocked = page.evaluate(
            """async () => {
              const got = [];
              addEventListener("securitypolicyviolation", (e) => got.push(e.effectiveDirective));
              await fetch("http://example.invalid/").catch(() => {});
              const script = document.createElement("script");
              script.textContent = "window.inline = true";
              document.body.append(script);
              await new Promise((done) => setTimeout(done, 100));
              return { got, inline: window.inline ?? false };
            }"""
        )
        assert blocked == {"got": ["connect-src", "script-src-elem"], "inline": False}
        assert "example.invalid" not in seen.hosts


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours in ``#rrggbb``."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
