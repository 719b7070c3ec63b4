"""The page in Chromium, a wav for its microphone, against a scripted server."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from web import web_root

pytestmark = pytest.mark.browser

WAIT_S = 20


class Page:
    """What a person does and sees."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser = browser
        browser.get(url)
        self.until(lambda: self.all(".sample"))

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.browser, WAIT_S, poll_frequency=0.05).until(lambda _: condition())

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Text of all matches, layout or not."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join('|')"
        return str(self.browser.execute_script(script, selector))

    def click(self, selector: str) -> None:
        self.browser.find_element(By.CSS_SELECTOR, selector).click()

    def boost(self, typed: str) -> None:
        self.browser.find_element(By.ID, "boost-input").send_keys(typed, Keys.ENTER)

    def play(self, title: str) -> None:
        next(button for button in self.all(".sample") if title in button.text).click()

    def start(self) -> None:
        self.click("#listen")
        self.until_state("open")

    def stop(self) -> None:
        self.click("#listen")
        self.until_state("closed")

    def until_state(self, state: str) -> None:
        self.until(lambda: self.all(f"#listen[data-state={state}]"))

    def finals(self) -> list[str]:
        """Paragraphs of settled words, as a screen reader hears them."""
        script = (
            "return [...document.querySelectorAll('.finals p')]"
            ".map(p => [...p.querySelectorAll('.word')].map(w => w.textContent).join(' '))"
        )
        return list(self.browser.execute_script(script))

    def problem(self) -> str:
        self.until(lambda: self.all(".problem"))
        return str(self.all(".problem")[0].get_attribute("data-problem"))

    def complaints(self) -> list[str]:
        """Errors on the console: exceptions, and what the security policy refused."""
        entries = self.browser.get_log("browser")
        return [e["message"] for e in entries if e["level"] == "SEVERE" and e["source"] != "network"]


@pytest.fixture(scope="module")
def speech() -> Path:
    """A wav for the microphone; any speech does, the scripted server does not listen."""
    return web_root() / "samples" / "the-door.opus"


@pytest.fixture(scope="module")
def wav(speech: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import soundfile

    samples, rate_hz = soundfile.read(speech)
    path = tmp_path_factory.mktemp("microphone") / "speech.wav"
    soundfile.write(path, samples, rate_hz, subtype="PCM_16")
    return path


@pytest.fixture(scope="module")
def browser(launch: Any, wav: Path) -> webdriver.Chrome:
    return launch(wav)


def allow_microphone(browser: webdriver.Chrome, setting: str) -> None:
    """Answer what the browser would ask: "granted" or "denied"."""
    answer = {"permission": {"name": "microphone"}, "setting": setting}
    browser.execute_cdp_cmd("Browser.setPermission", answer)


@pytest.fixture
def page(browser: webdriver.Chrome, server: Any) -> Iterator[Page]:
    allow_microphone(browser, "granted")
    page = Page(browser, server.url)
    yield page
    assert page.complaints() == []


def test_microphone_becomes_text(page: Page, server: Any) -> None:
    page.start()
    page.until(lambda: page.finals() == list(server.script.sentences))
    page.stop()
    assert server.queries[0]["encoding"] == ["linear16"]
    assert server.queries[0]["sample_rate"] == ["16000"]
    assert server.messages[-1] == {"type": "CloseStream"}


def test_partials_are_grey_with_their_stable_part_darker(page: Page, server: Any) -> None:
    server.script.sentences = ("one two three four five six seven eight nine ten",)
    page.start()
    page.until(lambda: len(page.all(".partial .word")) >= 3)
    stages = page.browser.execute_script(
        "return [...document.querySelectorAll('.partial .word')].map(w => w.className)"
    )
    assert stages == ["word stable"] * (len(stages) - 1) + ["word unstable"]
    assert page.finals() == []
    page.stop()


def test_only_settled_words_are_announced(page: Page) -> None:
    page.start()
    page.until(lambda: len(page.finals()) == 1)
    log = page.browser.find_element(By.CSS_SELECTOR, ".finals")
    assert log.get_attribute("role") == "log"
    assert log.find_elements(By.CSS_SELECTOR, ".stable, .unstable") == []
    page.stop()


def test_words_show_their_time_and_doubt(page: Page, server: Any) -> None:
    server.script.confidence = 0.31
    page.start()
    page.until(lambda: page.finals())
    word = page.all(".finals .word")[1]
    assert word.get_attribute("data-when") == "0.25 to 0.47 s · 31 % sure"
    assert "unsure" in word.get_attribute("class").split()
    page.stop()


def test_a_boost_edited_while_speaking_is_configured(page: Page, server: Any) -> None:
    page.boost("jarvis:4")
    page.start()
    assert server.queries[0]["keywords"] == ["jarvis:4"]
    page.boost("smart mirror")
    page.until(lambda: page.text("#boost-state") == "In use by this stream")
    page.browser.find_element(By.CSS_SELECTOR, "[aria-label='Weight of jarvis']").send_keys(Keys.RIGHT)
    page.until(lambda: len(server.messages) == 2)
    page.click("[aria-label='Remove jarvis']")
    page.until(lambda: len(server.messages) == 3)
    page.stop()
    assert [message.get("keywords") for message in server.messages[:3]] == [
        ["jarvis:4", "smart mirror:3"],
        ["jarvis:4.5", "smart mirror:3"],
        ["smart mirror:3"],
    ]


def test_a_phrase_that_cannot_be_boosted_is_named(page: Page, server: Any) -> None:
    server.script.unboostable = ("björk",)
    page.start()
    page.boost("björk, jarvis")
    page.until(lambda: page.all(".unboostable"))
    assert page.text(".unboostable .phrase") == "björk"
    assert page.text(".unboostable .reason") == "cannot spell björk"
    page.stop()


def test_words_are_settled_on_demand(page: Page, server: Any) -> None:
    server.script.sentences = ("one two three four five six seven eight nine ten",)
    page.start()
    page.until(lambda: len(page.all(".partial .word")) >= 2)
    page.click("#finalize")
    page.until(lambda: page.finals())
    assert {"type": "Finalize"} in server.messages
    page.stop()


def test_latency_and_seconds_are_shown(page: Page) -> None:
    page.start()
    page.until(lambda: page.text("#latency-finals") != "–")
    page.stop()
    assert re.fullmatch(r"\d+ ms", page.text("#latency-words"))
    assert float(page.text("#sent").split()[0]) > 0.5


def test_a_recording_takes_the_microphones_place(page: Page, server: Any) -> None:
    """Streamed as it plays: as many seconds as it lasts, then the words that were spoken."""
    page.play("A wake phrase")
    page.until_state("open")
    page.until_state("closed")
    assert server.audio_s == pytest.approx(3.1 + 0.6, abs=0.3)
    assert "Spoken: smart mirror" in page.text(".notes")
    assert server.messages[-1] == {"type": "CloseStream"}


def test_a_recording_started_over_the_microphone_waits_for_its_last_words(
    page: Page, server: Any
) -> None:
    page.start()
    page.until(lambda: page.all(".partial .word"))
    page.play("A digit")
    page.until(lambda: len(page.all(".take")) == 2)
    assert page.finals()
    page.until_state("closed")


def test_a_file_shows_progress_then_text_to_save(page: Page, server: Any, speech: Path) -> None:
    page.browser.execute_script(KEEP_SAVED)
    page.browser.find_element(By.ID, "file").send_keys(str(speech))
    page.until(lambda: page.text(".progress-text") == "0:15 of 1:00")
    assert float(page.all("progress")[0].get_attribute("value")) == 0.25
    server.script.upload_gate.set()
    page.until(lambda: page.finals() == list(server.script.sentences))
    page.until(lambda: page.all("progress") == [])
    assert server.uploads == [speech.read_bytes()]
    page.click("[aria-label='Save as SRT']")
    name, text = page.browser.execute_async_script(
        "const [name, blob] = window.saved; blob.text().then(text => arguments[0]([name, text]))"
    )
    assert name == "the-door.srt"
    assert text.startswith("1\n00:00:00,000 --> 00:00:01,225\nsmart mirror on the wall\n")


# Remembers what the page saves instead of saving it.
KEEP_SAVED = """
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.saved = [null, blob]; return make(blob); };
HTMLAnchorElement.prototype.click = function () { window.saved[0] = this.download; };
"""


def test_a_file_can_be_dropped_anywhere(page: Page, server: Any) -> None:
    server.script.upload_gate.set()
    page.browser.execute_script("""
        const transfer = new DataTransfer();
        transfer.items.add(new File(["sound"], "meeting.wav", { type: "audio/wav" }));
        const event = (type) => new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true });
        document.body.dispatchEvent(event("dragover"));
        window.curtainShown = !document.getElementById("curtain").hidden;
        document.body.dispatchEvent(event("drop"));
    """)
    page.until(lambda: page.finals() == list(server.script.sentences))
    assert server.uploads == [b"sound"]
    assert page.browser.execute_script("return window.curtainShown")
    assert page.all("#curtain")[0].get_attribute("hidden") is not None
    assert "meeting.wav" in page.text(".take h2")


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (400, {"err_code": "UNDECODABLE_AUDIO", "err_msg": "not a sound file"}, "file-not-audio"),
        (413, {"err_code": "PAYLOAD_TOO_LARGE", "err_msg": "512 MB"}, "file-too-big"),
        (429, {"err_code": "TOO_MANY_REQUESTS", "err_msg": "full"}, "server-full"),
        (503, {"err_code": "SERVICE_UNAVAILABLE", "err_msg": "draining"}, "server-not-ready"),
    ],
)
def test_a_refused_file_says_why(
    page: Page, server: Any, speech: Path, status: int, body: dict[str, str], problem: str
) -> None:
    server.script.upload_error = (status, body)
    page.browser.find_element(By.ID, "file").send_keys(str(speech))
    assert page.problem() == problem
    page.click(".problem .quiet")
    assert page.all(".problem") == []


@pytest.mark.parametrize(
    ("full", "ready", "status", "problem"),
    [
        (True, True, 429, "server-full"),
        (False, False, 503, "server-not-ready"),
        (False, True, 403, "handshake-refused"),
    ],
)
def test_a_refused_stream_says_why(
    page: Page, server: Any, full: bool, ready: bool, status: int, problem: str
) -> None:
    server.script.full, server.script.ready, server.script.refuse = full, ready, status
    page.click("#listen")
    assert page.problem() == problem
    page.until_state("closed")


@pytest.mark.parametrize(
    ("code", "reason", "problem"),
    [
        (1006, "", "connection-lost"),
        (1008, "DATA-0000: no", "audio-not-understood"),
        (1011, "NET-0001: no audio", "no-audio-arrived"),
        (1012, "the server is restarting", "server-stopping"),
        (1013, "NET-0002: busy", "server-behind"),
    ],
)
def test_a_broken_stream_says_why(
    page: Page, server: Any, code: int, reason: str, problem: str
) -> None:
    server.script.close = (0.6, code, reason)
    page.click("#listen")
    assert page.problem() == problem
    page.until_state("closed")


def test_after_a_broken_stream_one_click_goes_on(page: Page, server: Any) -> None:
    server.script.close = (1.0, 1006, "")
    page.click("#listen")
    page.problem()
    kept = page.text(".finals .word")
    server.script.close = None
    page.click(".problem .remedy")
    page.until_state("open")
    page.until(lambda: len(page.all(".take")) == 2)
    assert page.all(".problem") == []
    assert page.text(".take:first-child .finals .word") == kept != ""
    page.stop()


def test_a_dead_server_is_named(page: Page, server: Any) -> None:
    page.start()
    page.until(lambda: page.all(".partial .word"))
    server.stop()
    assert page.problem() == "server-unreachable"
    page.click("#listen")
    page.until(lambda: page.text(".problem-title") == "The server does not answer")


def test_escape_stops(page: Page, server: Any) -> None:
    page.start()
    page.browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    page.until_state("closed")
    assert server.messages[-1] == {"type": "CloseStream"}


def test_everything_is_reached_and_done_by_keyboard(page: Page, server: Any) -> None:
    expected = ["listen", *["sample"] * 6, "boost-input", "add", "file"]
    reached = []
    for _ in expected:
        ActionChains(page.browser).send_keys(Keys.TAB).perform()
        reached.append(page.browser.execute_script(FOCUSED))
    assert reached == [[name, "solid"] for name in expected]
    page.browser.execute_script("document.getElementById('listen').focus()")
    ActionChains(page.browser).send_keys(Keys.SPACE).perform()
    page.until_state("open")
    ActionChains(page.browser).send_keys(Keys.SPACE).perform()
    page.until_state("closed")


# Name of the focused element, and the outline that shows it (a file input is shown by its label).
FOCUSED = """
const focused = document.activeElement;
const shown = focused.type === 'file' ? focused.parentElement : focused;
const name = focused.id || focused.className || focused.textContent.toLowerCase();
return [name, getComputedStyle(shown).outlineStyle];
"""


def test_phone_has_no_sideways_scroll(page: Page, server: Any) -> None:
    metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.boost("a very long phrase that nobody would boost, antidisestablishmentarianism")
        page.start()
        page.until(lambda: page.finals())
        page.stop()
        wide = page.browser.execute_script(
            "return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right"
            " > innerWidth + 1 && !e.closest('.unseen')).map(e => e.className)"
        )
        assert wide == []
        assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_every_control_has_a_name(page: Page) -> None:
    page.boost("jarvis")
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    nodes = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "textbox", "slider", "meter", "log", "progressbar", "region", "link"}
    named = {
        (node["role"]["value"], node["name"]["value"])
        for node in nodes
        if not node.get("ignored") and node["role"]["value"] in roles
    }
    assert len(named) > 15
    assert [role for role, name in named if not name] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(page: Page, server: Any, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    server.script.unboostable = ("björk",)
    page.start()
    page.boost("björk, jarvis")
    page.until(lambda: page.finals() and page.all(".partial .word") and page.all(".unboostable"))
    poor = page.browser.execute_script(CONTRAST)
    page.stop()
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert poor == []


# Every piece of visible text against the nearest opaque background (WCAG 2.2, 1.4.3).
CONTRAST = """
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
                          return (x + 0.05) / (y + 0.05); };
const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
                        if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
const holdsText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
return [...document.querySelectorAll('body *')]
  .filter((e) => holdsText(e) && e.checkVisibility() && !e.closest(':disabled, noscript'))
  .map((e) => [e.className || e.tagName, +ratio(rgb(getComputedStyle(e).color), ground(e)).toFixed(2)])
  .filter(([, contrast]) => contrast < 4.5);
"""


def test_denied_permission_is_said(page: Page, server: Any) -> None:
    allow_microphone(page.browser, "denied")
    page.click("#listen")
    assert page.problem() == "permission-denied"
    page.until_state("closed")
    assert page.text("#listen-label") == "Start listening"
    assert server.queries == []


@pytest.mark.parametrize(
    ("error", "problem"),
    [("NotFoundError", "no-microphone"), ("NotReadableError", "microphone-busy")],
)
def test_a_microphone_that_fails_is_said(page: Page, error: str, problem: str) -> None:
    page.browser.execute_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', arguments[0]))"
        .replace("arguments[0]", f"'{error}'")
    )
    page.click("#listen")
    assert page.problem() == problem


def test_a_microphone_that_goes_away_is_said_and_its_words_kept(page: Page) -> None:
    page.browser.execute_script(KEEP_TRACK)
    page.start()
    page.until(lambda: page.finals())
    page.browser.execute_script("window.track.dispatchEvent(new Event('ended'))")
    assert page.problem() == "microphone-lost"
    assert page.finals()


KEEP_TRACK = """
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (constraints) => {
  const stream = await ask(constraints);
  window.track = stream.getAudioTracks()[0];
  return stream;
};
"""


def test_an_insecure_page_is_said(browser: webdriver.Chrome, server: Any) -> None:
    page = Page(browser, f"http://earshot.test:{server.port}/")
    page.click("#listen")
    assert page.problem() == "insecure-page"
    assert page.all(".problem .remedy") == []


def test_security_policy_is_strict() -> None:
    policy = re.search(r'content="(default-src[^"]+)"', (web_root() / "index.html").read_text())
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert json.dumps(policy[1]).count("*") == 0
