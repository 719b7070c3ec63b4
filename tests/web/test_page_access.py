"""The page by keyboard, by screen reader, on a phone, in the dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_page import Page
from scripted_server import ENDLESS, ScriptedServer
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


def test_escape_stops(page: Page, server: ScriptedServer) -> None:
    page.start()
    page.press(Keys.ESCAPE)
    page.until_state("closed")
    assert server.messages[-1] == {"type": "CloseStream"}


def test_everything_is_reached_and_done_by_keyboard(page: Page, server: ScriptedServer) -> None:
    expected = ["model-open", "options-open", "listen", "file"]
    expected += ["boost-input", "add", *["sample"] * 6]
    reached = []
    for _ in expected:
        page.press(Keys.TAB)
        reached.append(page.run(FOCUSED))
    assert reached == [[name, "solid"] for name in expected]
    page.run("document.getElementById('listen').focus()")
    page.press(Keys.SPACE)
    page.until_state("open")
    page.press(Keys.SPACE)
    page.until_state("closed")


# Name of the focused element, and the outline that shows it (a file input is shown by its label).
FOCUSED = """
const focused = document.activeElement;
const shown = focused.type === 'file' ? focused.parentElement : focused;
const name = focused.id || focused.className || focused.textContent.toLowerCase();
return [name, getComputedStyle(shown).outlineStyle];
"""


@pytest.mark.parametrize(("width", "height"), [(360, 740), (740, 360)])
def test_phone_has_no_sideways_scroll(page: Page, width: int, height: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.boost("a very long phrase that nobody would boost, antidisestablishmentarianism")
        page.start()
        page.until(lambda: page.finals())
        page.stop()
        page.run(LONGEST_TIMES)
        assert page.run(TOO_WIDE) == []
        assert page.run("return document.documentElement.scrollWidth") <= width
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_times_of_words_stay_on_the_page(page: Page, server: ScriptedServer) -> None:
    """The label of every word of a line, also of the last, lies inside the page."""
    server.script.sentences = ("one two three four five six seven eight nine ten eleven twelve",)
    metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": False}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.start()
        page.until(lambda: page.finals())
        page.stop()
        for word in page.all(".finals .word"):
            ActionChains(page.browser).move_to_element(word).perform()
            left, right = page.run(LABEL_SPAN, word)
            assert left >= 0
            assert right <= 360
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# Left and right edge of the label that a word shows while it is pointed at.
LABEL_SPAN = """
const label = getComputedStyle(arguments[0], '::after');
const word = arguments[0].getBoundingClientRect();
const wide = parseFloat(label.width);
const right = parseFloat(label.right) === 0 && arguments[0].matches('.on-right');
return right ? [word.right - wide, word.right] : [word.left, word.left + wide];
"""

LONGEST_TIMES = """
for (const name of ['latency-words', 'latency-finals'])
  document.getElementById(name).textContent = '888 ms';
"""
TOO_WIDE = """
return [...document.querySelectorAll('body *')]
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.unseen'))
  .map((e) => e.className);
"""


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
def test_text_has_the_contrast_of_wcag_aa(page: Page, server: ScriptedServer, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    server.script.unboostable = ("björk",)
    server.script.sentences = ("one two", *ENDLESS)
    page.start()
    page.boost("björk, jarvis")
    page.until(lambda: page.finals() and page.all(".partial .word") and page.all(".unboostable"))
    poor = page.run(CONTRAST)
    page.stop()
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert poor == []


# Every piece of visible text against the nearest opaque background (WCAG 2.2, 1.4.3).
CONTRAST = """
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const ground = (e) => {
  if (!e) return [255, 255, 255];
  const colour = rgb(getComputedStyle(e).backgroundColor);
  return colour.length < 4 || colour[3] > 0 ? colour : ground(e.parentElement);
};
const contrast = (e) => ratio(rgb(getComputedStyle(e).color), ground(e));
const holdsText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
return [...document.querySelectorAll('body *')]
  .filter((e) => holdsText(e) && e.checkVisibility() && !e.closest(':disabled, noscript'))
  .map((e) => [e.className || e.tagName, Number(contrast(e).toFixed(2))])
  .filter(([, value]) => value < 4.5);
"""


SCREENS = [(1280, 720, False), (390, 844, True)]


@pytest.fixture(params=SCREENS, ids=lambda screen: f"{screen[0]}x{screen[1]}")
def screen(request: pytest.FixtureRequest, page: Page) -> Iterator[Page]:
    """The page on a small laptop, and on a phone."""
    width, height, mobile = request.param
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    yield page
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_boosted_words_are_in_sight_when_they_are_added(screen: Page) -> None:
    for phrase in ("jarvis", "smart mirror", "Kowalczyk", "Nguyen"):
        screen.boost(phrase)
        assert screen.run(IN_SIGHT, f"[data-phrase='{phrase}']")
    rows = ("jarvis", "smart mirror", "Kowalczyk", "Nguyen")
    assert [row for row in rows if not screen.run(IN_SIGHT, f"[data-phrase='{row}']")] == []
    assert screen.run(IN_SIGHT, "#boost-input")


def test_what_is_said_of_boosted_words_is_in_sight(screen: Page, server: ScriptedServer) -> None:
    server.script.sentences = ENDLESS
    screen.start()
    for phrase in ("jarvis", "smart mirror", "Kowalczyk", "Nguyen"):
        screen.boost(phrase)
    screen.until(lambda: screen.text("#boost-state") == "In use by this stream")
    assert screen.run(IN_SIGHT, "#boost-state")
    screen.stop()


def test_the_progress_of_a_long_file_stays_in_sight(
    screen: Page, server: ScriptedServer, speech: Path
) -> None:
    server.script.sentences = LONG
    server.script.segments_at_once = True
    screen.choose_file(speech)
    screen.until(lambda: len(screen.finals()) == len(LONG))
    assert screen.run(IN_SIGHT, "progress")
    assert screen.run(IN_SIGHT, ".progress button")
    screen.run("document.querySelector('.finals p').scrollIntoView()")
    assert screen.run(IN_SIGHT, "progress")
    server.script.upload_gate.set()
    screen.until(lambda: screen.all("progress") == [])


LONG = tuple(f"sentence {number} of a recording that fills the page" for number in range(40))

# Whether the middle and the corners of an element are seen: in the window, and under nothing.
IN_SIGHT = """
const element = document.querySelector(arguments[0]);
const { left, right, top, bottom } = element.getBoundingClientRect();
const middle = [(left + right) / 2, (top + bottom) / 2];
const points = [middle, [left + 2, top + 2], [right - 2, bottom - 2]];
return points.every(([x, y]) => {
  const seen = document.elementFromPoint(x, y);
  return seen !== null && (element.contains(seen) || seen.contains(element));
});
"""
