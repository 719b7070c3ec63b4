"""Options of a request, and the model with its error rates, each behind one control."""

from pathlib import Path

import pytest
from browser_page import Page
from scripted_server import ScriptedServer
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


def opened(page: Page, server: ScriptedServer) -> None:
    page.browser.get(server.url)
    page.until(lambda: page.text("#model") == "scripted")
    page.run("localStorage.removeItem('earshot.options')")
    page.browser.refresh()
    page.until(lambda: page.text("#model") == "scripted" and page.all("#option-lm option"))
    page.click("#options-open")


def choose(page: Page, field: str, typed: str) -> None:
    page.all(f"#option-{field}")[0].send_keys(typed, Keys.TAB)


def test_options_are_asked_for_live_and_of_files(
    page: Page, server: ScriptedServer, speech: Path
) -> None:
    server.script.language_models = ("law",)
    server.script.upload_gate.set()
    opened(page, server)
    page.click("#option-smart-format")
    choose(page, "lm", "law")
    choose(page, "eot-threshold", "0.6")
    choose(page, "endpointing", "400")
    page.click("#options .close")
    assert page.text("#options-open") == "Options (4)"
    page.start()
    page.stop()
    page.choose_file(speech)
    page.until(lambda: len(server.queries) == 2 and page.all("progress") == [])
    for query in server.queries:
        asked = {name: query.get(name) for name in ("smart_format", "lm", "eot_threshold")}
        assert asked == {"smart_format": ["true"], "lm": ["law"], "eot_threshold": ["0.6"]}
        assert (query["endpointing"], query["punctuate"]) == (["400"], ["true"])


def test_a_value_that_the_server_would_refuse_is_not_taken(
    page: Page, server: ScriptedServer
) -> None:
    opened(page, server)
    choose(page, "eot-threshold", "9")
    page.click("#options .close")
    assert page.text("#options-open") == "Options"


def test_escape_closes_the_sheet_and_listening_goes_on(page: Page, server: ScriptedServer) -> None:
    opened(page, server)
    page.click("#options .close")
    page.start()
    page.click("#options-open")
    page.press(Keys.ESCAPE)
    page.until(lambda: page.all("dialog[open]") == [])
    assert page.all("#listen[data-state=open]")
    assert page.run("return document.activeElement.id") == "options-open"
    page.stop()


def test_escape_means_the_sheet_wherever_the_focus_is(page: Page, server: ScriptedServer) -> None:
    opened(page, server)
    page.click("#options .close")
    page.start()
    page.click("#options-open")
    page.run("document.activeElement.blur()")
    page.press(Keys.ESCAPE)
    page.until(lambda: page.all("dialog[open]") == [])
    assert page.all("#listen[data-state=open]")
    page.stop()


def test_a_press_in_a_sheets_padding_leaves_it_open(page: Page, server: ScriptedServer) -> None:
    opened(page, server)
    sheet = page.all("#options")[0]
    width, height = sheet.size["width"], sheet.size["height"]
    mouse = ActionChains(page.browser)
    mouse.move_to_element_with_offset(sheet, 4 - width // 2, 4 - height // 2).click().perform()
    assert page.all("dialog[open]")
    mouse.move_by_offset(-40, 0).click().perform()
    assert page.all("dialog[open]") == []


def test_the_chosen_microphone_is_the_one_that_is_opened(
    page: Page, server: ScriptedServer
) -> None:
    opened(page, server)
    page.until(lambda: len(page.all("#option-microphone option")) > 1)
    choose(page, "microphone", "Fake Audio Input 2")
    chosen = page.run("return document.getElementById('option-microphone').value")
    page.click("#options .close")
    page.run("""
        const media = navigator.mediaDevices, ask = media.getUserMedia.bind(media);
        media.getUserMedia = (wanted) => { window.wanted = wanted; return ask(wanted); };
    """)
    page.start()
    page.stop()
    assert chosen
    assert page.run("return window.wanted.audio.deviceId.exact") == chosen


def test_the_model_tells_its_error_rates(page: Page, server: ScriptedServer) -> None:
    server.script.card = "# M\n\n## What it can do\n\n| | words |\n|---|---|\n| books | **8.2** |"
    page.browser.get(server.url)
    page.until(lambda: page.text("#model-card td"))
    page.click("#model-open")
    assert page.text("#model-card td") == "books|8.2"
    assert page.text("#model-card strong") == "8.2"
    page.click("#model-sheet .close")
