"""Takes outlive a reload, and nothing but the tab keeps them."""

from pathlib import Path

import pytest
from browser_page import Page
from scripted_server import ENDLESS, ScriptedServer

pytestmark = pytest.mark.browser


def reload(page: Page) -> None:
    page.browser.refresh()
    page.until(lambda: page.all(".sample"))


def test_a_reload_keeps_takes_with_their_words_and_notes(
    page: Page, server: ScriptedServer
) -> None:
    page.start()
    page.until(lambda: page.finals() == list(server.script.sentences))
    page.stop()
    word = page.all(".finals .word")[1].get_attribute("data-when")
    began = page.text(".take-time")
    reload(page)
    assert page.finals() == list(server.script.sentences)
    assert page.all(".finals .word")[1].get_attribute("data-when") == word
    assert page.text(".take-time") == began
    assert page.text(".notes") == ""
    assert page.text(".take-actions button") == "Copy|Text|SRT|VTT"


def test_what_was_said_before_a_reload_in_mid_sentence_is_kept(
    page: Page, server: ScriptedServer
) -> None:
    server.script.sentences = ("smart mirror", *ENDLESS)
    page.start()
    page.until(lambda: page.finals() and page.all(".partial .word"))
    reload(page)
    first, second = page.finals()
    assert first == "smart mirror"
    assert second.startswith("on")
    assert page.text(".notes") == "The page was reloaded here."


def test_takes_follow_each_other_as_before(
    page: Page, server: ScriptedServer, speech: Path
) -> None:
    server.script.upload_gate.set()
    page.choose_file(speech)
    page.until(lambda: page.finals() and not page.all("progress"))
    reload(page)
    page.start()
    page.until(lambda: len(page.finals()) > len(server.script.sentences))
    page.stop()
    reload(page)
    assert page.text(".take h2").startswith("smart-mirror")
    assert len(page.all(".take")) == 2


def test_one_button_forgets_them(page: Page) -> None:
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    page.click("#forget")
    assert page.all(".take") == []
    assert page.run("return sessionStorage.length") == 0
    reload(page)
    assert page.all(".take") == []


def test_another_tab_sees_none_of_them(page: Page, server: ScriptedServer) -> None:
    page.start()
    page.until(lambda: page.finals())
    page.stop()
    page.run("dispatchEvent(new Event('pagehide'))")
    tab = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    try:
        other = Page(page.browser, server.url)
        assert other.all(".take") == []
        assert "finals" not in other.run("return JSON.stringify(localStorage)")
    finally:
        page.browser.close()
        page.browser.switch_to.window(tab)
