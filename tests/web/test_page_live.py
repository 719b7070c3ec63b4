"""The page against the real server: what is heard is what the page shows.

Exact texts come from the golden wav played in the place of a bundled recording, which arrives bit
for bit. Chromium's microphone resamples the wav that it plays, and the golden model, which knows
its two wavs by heart, knows them by heart too exactly for that.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browser_page import Page, allow_microphone
from selenium.webdriver import Chrome
from server_process import Server, served
from websockets.sync.client import connect

pytestmark = pytest.mark.browser

SAID = (
    "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON ITSELF "
    "BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
)


@pytest.fixture(scope="module")
def wav(golden_dir: Path) -> Path:
    return golden_dir / "wavs" / "librispeech-1995-1837-0001.wav"


@pytest.fixture(scope="module")
def model_dir(golden_dir: Path) -> Path:
    return golden_dir / "u2pp_conformer"


@pytest.fixture(scope="module")
def golden(model_dir: Path) -> Iterator[Server]:
    with served("--model", str(model_dir)) as server:
        yield server


@pytest.fixture
def page(browser: Chrome, golden: Server) -> Iterator[Page]:
    page = open_page(browser, golden)
    yield page
    assert page.complaints() == []


def open_page(browser: Chrome, server: Server) -> Page:
    """The page on localhost, where browsers give out the microphone."""
    allow_microphone(browser, "granted")
    return Page(browser, server.http("/"))


def spoken(page: Page) -> str:
    return " ".join(page.finals())


def play(page: Page, wav: Path) -> None:
    """Play the wav as if it were one of the bundled recordings."""
    page.run(REPLACE_RECORDING, base64.b64encode(wav.read_bytes()).decode())
    page.play("From a book")
    page.until_state("open")


REPLACE_RECORDING = """
const sound = Uint8Array.from(atob(arguments[0]), (char) => char.charCodeAt(0));
const real = window.fetch;
window.fetch = (address, ...rest) =>
  String(address).endsWith('.opus') ? Promise.resolve(new Response(sound)) : real(address, ...rest);
"""


def test_speech_is_read_to_the_letter_while_it_plays(page: Page, wav: Path) -> None:
    play(page, wav)
    page.until(lambda: len(page.all(".partial .word")) >= 3)
    assert spoken(page) == ""
    page.until_state("closed")
    assert spoken(page) == SAID
    assert page.all(".problem") == []


def test_a_file_is_read_to_the_letter(page: Page, wav: Path) -> None:
    page.choose_file(wav)
    page.until(lambda: spoken(page).endswith("AROUND IT"))
    assert spoken(page) == SAID


def test_a_file_that_is_no_sound_is_said(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "talk.mp3"
    path.write_bytes(b"PK\x03\x04 this is a zip that calls itself a talk")
    page.choose_file(path)
    assert page.problem() == "file-not-audio"
    assert "Not transcribed." in page.text(".notes")


def test_boosts_edited_while_speaking_are_in_use(page: Page, wav: Path) -> None:
    play(page, wav)
    page.until(lambda: page.all(".partial .word"))
    page.boost("cotton:1")
    page.until(lambda: page.text("#boost-state") == "In use by this stream")
    page.until_state("closed")
    assert spoken(page) == SAID
    assert page.text(".finals .boosted") == "COTTON"


def test_a_phrase_the_model_cannot_write_is_named(page: Page, wav: Path) -> None:
    play(page, wav)
    page.boost("Ωmega")
    page.until(lambda: page.all(".unboostable"))
    assert page.text(".unboostable .phrase") == "Ωmega"
    page.stop()


def test_the_model_is_named(page: Page) -> None:
    page.until(lambda: page.text("#model") == "u2pp_conformer")


def test_a_newer_page_is_never_mixed_with_an_older_one(golden: Server) -> None:
    with httpx.Client(timeout=60) as client:
        for path in ("/", "/web/page.js", "/web/style/dock.css"):
            first = client.get(golden.http(path))
            assert first.headers["cache-control"] == "no-cache"
            again = client.get(golden.http(path), headers={"if-none-match": first.headers["etag"]})
            assert again.headers["cache-control"] == "no-cache"
    assert again.status_code == 304


def test_a_full_server_is_said(browser: Chrome, model_dir: Path) -> None:
    with served("--model", str(model_dir), "--max-streams", "1") as server:
        page = open_page(browser, server)
        with connect(server.listen_url()) as other:
            page.click("#listen")
            assert page.problem() == "server-full"
            other.send(json.dumps({"type": "CloseStream"}))
            assert [json.loads(message)["type"] for message in other][-1] == "Metadata"
        page.click(".problem .remedy")
        page.until_state("open")
        page.stop()


def test_a_killed_server_is_said_and_the_words_are_kept(
    browser: Chrome, model_dir: Path, wav: Path
) -> None:
    with served("--model", str(model_dir)) as server:
        page = open_page(browser, server)
        play(page, wav)
        page.until(lambda: len(page.all(".partial .word")) >= 3)
        server.process.kill()
        assert page.problem() == "server-unreachable"
        page.until_state("closed")
        assert spoken(page).startswith("IT WAS")
        assert "before the last words were settled" in page.text(".notes")


def test_a_draining_server_sends_the_last_words_first(
    browser: Chrome, model_dir: Path, wav: Path
) -> None:
    with served("--model", str(model_dir), "--drain-s", "0.2") as server:
        page = open_page(browser, server)
        play(page, wav)
        page.until(lambda: len(page.all(".partial .word")) >= 3)
        server.process.terminate()
        assert page.problem() == "server-stopping"
        assert spoken(page).startswith("IT WAS")
        assert "before the last words" not in page.text(".notes")
