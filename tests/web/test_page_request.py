"""What the page shows of a take's request: its code, and its messages."""

import json
from pathlib import Path

import pytest
from browser_page import Page
from scripted_server import ScriptedServer
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


def press(page: Page, label: str) -> None:
    next(button for button in page.all(".take-actions button") if button.text == label).click()


def test_the_code_of_a_live_take_is_its_request(page: Page, server: ScriptedServer) -> None:
    page.boost("smart mirror:4")
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    press(page, "Code")
    code = page.text("#code pre")
    compile(code, "code", "exec")
    assert f"ws://localhost:{server.port}/v1/listen?encoding=linear16" in code
    assert "keywords=smart+mirror%3A4" in code
    page.click("#code .tabs button:last-child")
    assert page.text("#code pre").startswith("curl ")
    assert "sample_rate" not in page.text("#code pre")
    page.click("#code .close")


def test_the_code_of_a_file_is_its_request(
    page: Page, server: ScriptedServer, speech: Path
) -> None:
    server.script.upload_gate.set()
    page.choose_file(speech)
    page.until(lambda: page.finals())
    press(page, "Code")
    assert "'@smart-mirror.opus'" in page.text("#code pre")
    page.click("#code .close")


def test_messages_are_shown_as_they_come_and_saved(page: Page, server: ScriptedServer) -> None:
    page.run(KEEP_SAVED)
    page.start()
    page.click(".events > summary")
    page.until(lambda: "final, end of speech: smart mirror on the wall" in page.text(".events li"))
    page.stop()
    page.click(".events .quiet")
    lines = page.browser.execute_async_script("window.saved.text().then(arguments[0])")
    messages = [json.loads(line) for line in lines.splitlines()]
    assert (messages[0]["type"], messages[-1]["type"]) == ("Results", "Metadata")
    assert page.text(".event-count") == str(len(messages))


# Remembers what the page saves instead of saving it.
KEEP_SAVED = """
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.saved = blob; return make(blob); };
HTMLAnchorElement.prototype.click = function () {};
"""


def test_a_take_is_compared_with_and_without_its_boosts(page: Page, server: ScriptedServer) -> None:
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    press(page, "Compare")
    assert page.text(".beside") == "Add a boosted word, then compare."
    page.boost("smart mirror")
    server.script.unboostable = ("smart mirror",)
    press(page, "Compare")
    press(page, "Compare")  # it is heard twice, not four times
    server.script.upload_gate.set()
    page.until(lambda: page.all(".comparison"))
    assert [query.get("keywords") for query in server.queries[1:]] == [None, ["smart mirror"]]
    assert all(upload.startswith(b"RIFF") for upload in server.uploads)
    assert page.text(".comparison h3") == "Without boosts|With smart mirror"
    assert "smart mirror: cannot spell" in page.text(".comparison small")


def test_a_click_on_a_word_plays_it(page: Page) -> None:
    page.run(REMEMBER_PLAYED)
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    page.all(".finals .word")[1].click()
    page.until(lambda: page.run("return window.played"))
    assert page.run("return window.played").startswith("blob:")
    page.until(lambda: page.run("return window.audio.currentTime > 0.2"))
    page.until(lambda: page.run("return window.audio.paused"))


def test_the_keyboard_walks_through_the_words_and_plays_one(page: Page) -> None:
    page.run(REMEMBER_PLAYED)
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    assert page.run("return document.querySelectorAll('.finals [tabindex=\"0\"]').length") == 1
    page.run("document.querySelector('.finals [tabindex=\"0\"]').focus()")
    last = page.all(".finals .word")[-1].text  # also of a partial that was never settled
    for key, word in [(Keys.ARROW_RIGHT, "mirror"), (Keys.END, last), (Keys.ARROW_RIGHT, last)]:
        page.press(key)
        assert page.run("return document.activeElement.textContent") == word
    page.press(Keys.HOME)
    assert page.run("return document.activeElement.textContent") == "smart"
    page.press(Keys.ENTER)
    page.until(lambda: page.run("return window.played"))


def test_a_take_without_words_has_its_code_and_its_sound(
    page: Page, server: ScriptedServer
) -> None:
    server.script.sentences = ()
    page.start()
    page.stop()
    page.until(lambda: "No words were recognised." in page.text(".notes"))
    shown = [each.text for each in page.all(".take-actions button") if each.is_displayed()]
    assert shown == ["Play", "Compare", "Code"]


def test_a_file_that_the_browser_cannot_play_says_so(
    page: Page, server: ScriptedServer, tmp_path: Path
) -> None:
    server.script.upload_gate.set()
    file = tmp_path / "call.amr"
    file.write_bytes(b"#!AMR" + bytes(100))
    page.choose_file(file)
    page.until(lambda: any(each.text == "Play" for each in page.all(".take-actions button")))
    press(page, "Play")
    page.until(lambda: page.text(".beside") == "This browser cannot play this file.")


REMEMBER_PLAYED = """
const play = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () {
  [window.played, window.audio] = [this.src, this];
  return play.call(this);
};
"""
