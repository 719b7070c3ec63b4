"""The page as a newcomer gets it: the bundled model, a microphone, the bundled recordings."""

from collections.abc import Iterator

import pytest
from browser_page import Page, allow_microphone
from selenium.webdriver import Chrome
from server_process import Server, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def bundled() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture
def page(browser: Chrome, bundled: Server) -> Page:
    allow_microphone(browser, "granted")
    return Page(browser, bundled.http("/"))


def test_a_phrase_into_the_microphone_is_read(page: Page) -> None:
    """Through Chromium's resampling and automatic gain, as from anyone's microphone."""
    page.start()
    page.until(lambda: float(page.text("#sent").split()[0]) > 4)
    page.stop()
    assert [text.rstrip(".") for text in page.finals()] == ["Smart mirror"]


@pytest.mark.parametrize(
    ("title", "words", "read"),
    [("A wake phrase", "smart mirror", "Smart mirror."), ("A digit", "seven", "Seven.")],
)
def test_a_recording_is_read_beside_what_was_spoken(
    page: Page, title: str, words: str, read: str
) -> None:
    page.play(title)
    page.until(lambda: page.text(".notes") == f"Spoken: {words}")
    assert page.finals() == [read]
