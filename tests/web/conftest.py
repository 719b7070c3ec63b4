"""Fixtures for the page: a browser, a wav for its microphone, a scripted server."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import soundfile
from browser_page import Page, allow_microphone, start_chromium
from scripted_server import ScriptedServer
from selenium import webdriver

from earshot.web import web_root

Launch = Callable[[Path], webdriver.Chrome]


@pytest.fixture(scope="session")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launch]:
    """Start Chromium with a wav for its microphone; closed when the tests are over."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium is missing (apt-get install chromium chromium-driver)")
    browsers: list[webdriver.Chrome] = []

    def start(microphone: Path) -> webdriver.Chrome:
        user_data = tmp_path_factory.mktemp("chromium")
        browsers.append(start_chromium(chromium, driver, user_data, microphone))
        return browsers[-1]

    yield start
    for browser in browsers:
        browser.quit()


@pytest.fixture(scope="session")
def speech() -> Path:
    """Someone says "smart mirror"; the scripted server does not care what is said."""
    return web_root() / "samples" / "smart-mirror.opus"


@pytest.fixture(scope="session")
def browser(
    launch: Launch, speech: Path, tmp_path_factory: pytest.TempPathFactory
) -> webdriver.Chrome:
    """One browser for all tests; each opening of its microphone plays the speech from the start."""
    samples, rate_hz = soundfile.read(speech)
    wav = tmp_path_factory.mktemp("microphone") / "speech.wav"
    soundfile.write(wav, samples, rate_hz, subtype="PCM_16")
    return launch(wav)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A scripted server, running."""
    server = ScriptedServer()
    server.start()
    yield server
    server.script.upload_gate.set()
    server.stop()


@pytest.fixture
def page(browser: webdriver.Chrome, server: ScriptedServer) -> Iterator[Page]:
    """The page, fresh, with the microphone allowed; it must not complain on the console."""
    allow_microphone(browser, "granted")
    page = Page(browser, server.url)
    yield page
    assert page.complaints() == []
