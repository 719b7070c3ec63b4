"""What the page says when the microphone, the server or a file fails."""

from pathlib import Path

import pytest
from browser_page import INSECURE_HOST, Page, allow_microphone
from scripted_server import ENDLESS, ScriptedServer
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


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
    page: Page,
    server: ScriptedServer,
    speech: Path,
    status: int,
    body: dict[str, str],
    problem: str,
) -> None:
    server.script.upload_error = (status, body)
    page.choose_file(speech)
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
    page: Page, server: ScriptedServer, full: bool, ready: bool, status: int, problem: str
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
    page: Page, server: ScriptedServer, code: int, reason: str, problem: str
) -> None:
    server.script.close = (0.6, code, reason)
    page.click("#listen")
    assert page.problem() == problem
    page.until_state("closed")


def test_after_a_broken_stream_one_click_goes_on(page: Page, server: ScriptedServer) -> None:
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


def test_a_broken_stream_is_taken_up_by_itself(page: Page, server: ScriptedServer) -> None:
    server.script.close = (1.0, 1006, "")
    page.click("#listen")
    page.problem()
    assert "Listening again in 2 s; what is said until then is lost." in page.text(".problem p")
    server.script.close = None
    page.until(lambda: len(page.all(".take")) == 2 and page.finals()[1:])
    assert page.all(".problem") == []
    page.stop()


def test_who_dismisses_the_notice_is_left_alone(page: Page, server: ScriptedServer) -> None:
    page.run(REMEMBER_CLEARED)
    server.script.close = (1.0, 1006, "")
    page.click("#listen")
    page.problem()
    page.click(".problem .quiet")
    assert page.run("return window.waiting.size") == 0


# The waits of a second and more that have not been cancelled.
REMEMBER_CLEARED = """
window.waiting = new Set();
const [start, cancel] = [window.setTimeout, window.clearTimeout];
window.setTimeout = (run, ms, ...rest) => {
  const id = start(run, ms, ...rest);
  if (ms === 2000) window.waiting.add(id);
  return id;
};
window.clearTimeout = (id) => { window.waiting.delete(id); cancel(id); };
"""


def test_what_was_stopped_does_not_begin_again(page: Page, server: ScriptedServer) -> None:
    server.script.cut_at_the_end = True
    page.start()
    page.until(lambda: page.all(".word"))
    page.click("#listen")
    page.problem()
    assert "Listening again" not in page.text(".problem p")


@pytest.mark.parametrize("way", ["#forget", Keys.ESCAPE])
def test_whoever_does_something_else_is_not_listened_to_again(
    page: Page, server: ScriptedServer, way: str
) -> None:
    page.run(REMEMBER_CLEARED)
    server.script.close = (1.0, 1006, "")
    page.click("#listen")
    page.problem()
    assert page.run("return window.waiting.size") == 1
    if way == "#forget":
        page.click(way)
    else:
        page.press(way)
    assert page.run("return window.waiting.size") == 0


def test_a_recording_that_broke_waits_for_a_click(page: Page, server: ScriptedServer) -> None:
    server.script.close = (1.0, 1006, "")
    page.click(".sample")
    page.problem()
    assert "Listening again" not in page.text(".problem p")


def test_a_dead_server_is_named(page: Page, server: ScriptedServer) -> None:
    server.script.sentences = ENDLESS
    page.start()
    page.until(lambda: page.all(".partial .word"))
    server.stop()
    assert page.problem() == "server-unreachable"
    page.click("#listen")
    page.until(lambda: page.text(".problem-title") == "The server does not answer")


@pytest.mark.parametrize("source", ["#listen", ".sample"])
def test_reconnecting_works_when_the_server_is_back_and_says_when_it_is_not(
    page: Page, server: ScriptedServer, source: str
) -> None:
    server.script.sentences = ENDLESS
    page.click(source)
    page.until(lambda: page.all(".partial .word"))
    server.stop()
    assert page.problem() == "server-unreachable"
    page.until_state("closed")
    page.run("document.querySelector('.problem').classList.add('first')")
    page.click(".problem .remedy")
    page.until(lambda: page.all(".problem:not(.first)"))
    assert page.problem() == "server-unreachable"
    assert page.text(".problem .remedy") == "Reconnect"
    again = ScriptedServer(server.port)
    again.start()
    try:
        page.click(".problem .remedy")
        page.until(lambda: again.audio_s > 0)
        assert page.all(".problem") == []
        page.stop()
    finally:
        again.stop()


def test_denied_permission_is_said(page: Page, server: ScriptedServer) -> None:
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
    page.run(
        "const error = new DOMException('', arguments[0]);"
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(error);",
        error,
    )
    page.click("#listen")
    assert page.problem() == problem


def test_a_microphone_that_goes_away_is_said_and_its_words_kept(page: Page) -> None:
    page.run(KEEP_TRACK)
    page.start()
    page.until(lambda: page.finals())
    page.run("window.track.dispatchEvent(new Event('ended'))")
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


def test_an_insecure_page_is_said(browser: Chrome, server: ScriptedServer) -> None:
    page = Page(browser, f"http://{INSECURE_HOST}:{server.port}/")
    page.click("#listen")
    assert page.problem() == "insecure-page"
    assert page.all(".problem .remedy") == []
