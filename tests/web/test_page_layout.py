"""The page at the sizes that people have: a small laptop, a large screen, a phone."""

from collections.abc import Callable, Iterator

import pytest
from browser_page import Page

pytestmark = pytest.mark.browser

Resize = Callable[[int, int], None]


@pytest.fixture
def resize(page: Page) -> Iterator[Resize]:
    """Give the page's window a size in CSS pixels; those of phones are narrow."""

    def to(width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    yield to
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


SIZES = [(1280, 720), (1920, 1080), (390, 844)]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_lies_in_a_scroll_box(page: Page, resize: Resize, width: int, height: int) -> None:
    resize(width, height)
    page.boost("jarvis, smart mirror, Kowalczyk, Nguyen, Kearny, Oakes, Quilter, Alexa")
    assert page.run(SCROLL_BOXES) == []


SCROLL_BOXES = """
return [...document.querySelectorAll('body *')]
  .filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY) && e.checkVisibility())
  .map((e) => e.className || e.tagName);
"""


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_all_that_starts_a_take_is_in_sight_at_once(
    page: Page, resize: Resize, width: int, height: int
) -> None:
    resize(width, height)
    assert page.run(BELOW_THE_DOCK, "#listen, .file-button", 0) == []
    assert page.run(BELOW_THE_DOCK, ".sample", page.run(DOCK_HEIGHT)) == []


DOCK_HEIGHT = "return document.querySelector('.dock').offsetHeight"
# What ends below the window less so many pixels.
BELOW_THE_DOCK = """
return [...document.querySelectorAll(arguments[0])]
  .filter((e) => e.getBoundingClientRect().bottom > innerHeight - arguments[1])
  .map((e) => e.textContent);
"""


def test_a_large_screen_is_used_from_edge_to_edge(page: Page, resize: Resize) -> None:
    resize(1920, 1080)
    left, right = page.run("""
        const edges = [".sources", ".settings"].map((name) =>
          document.querySelector(name).getBoundingClientRect());
        return [edges[0].left, innerWidth - edges[1].right];
    """)
    assert left < 100
    assert right < 100


def test_a_long_column_is_read_to_its_end_beside_a_long_take(page: Page, resize: Resize) -> None:
    resize(1280, 720)
    page.boost(", ".join(f"name {letter}" for letter in "abcdefghijklmnop"))
    page.run("document.querySelector('main').style.minHeight = '400vh'")
    page.until(lambda: page.run(STICKS_AT) < 0)
    page.run("scrollTo(0, 1500)")
    dock = page.run(DOCK_HEIGHT)
    page.until(lambda: page.run(BELOW_THE_DOCK, ".sample", dock) == [])


STICKS_AT = """
const side = document.querySelector('.side');
return parseFloat(getComputedStyle(side).getPropertyValue('--stick-at'));
"""


def test_what_marks_mean_is_said_only_where_there_are_some(page: Page) -> None:
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    assert not page.all(".marks")[0].is_displayed()
