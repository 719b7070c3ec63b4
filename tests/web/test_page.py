"""The page in Chromium, a wav for its microphone, against a scripted server."""

import re
from pathlib import Path

import pytest
from browser_page import Page
from scripted_server import ENDLESS, ScriptedServer
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser


def test_microphone_becomes_text(page: Page, server: ScriptedServer) -> None:
    page.start()
    page.until(lambda: page.finals() == list(server.script.sentences))
    page.stop()
    assert server.queries[0]["encoding"] == ["linear16"]
    assert server.queries[0]["sample_rate"] == ["16000"]
    assert server.messages[-1] == {"type": "CloseStream"}


def test_partials_are_grey_with_their_stable_part_darker(
    page: Page, server: ScriptedServer
) -> None:
    server.script.sentences = ENDLESS
    page.start()
    page.until(lambda: len(page.all(".partial .word")) >= 3)
    stages = page.run(
        "return [...document.querySelectorAll('.partial .word')].map(w => w.className)"
    )
    assert stages == ["word stable"] * (len(stages) - 1) + ["word unstable"]
    assert page.finals() == []
    page.stop()


def test_only_settled_words_are_announced(page: Page) -> None:
    page.start()
    page.until(lambda: page.finals())
    assert page.all(".finals")[0].get_attribute("role") == "log"
    assert page.all(".finals .stable, .finals .unstable") == []
    page.stop()


def test_words_show_their_time_and_doubt(page: Page, server: ScriptedServer) -> None:
    server.script.confidence = 0.31
    page.start()
    page.until(lambda: page.finals())
    word = page.all(".finals .word")[1]
    assert word.get_attribute("data-when") == "0.25 to 0.47 s · 31 % sure"
    assert "unsure" in word.get_attribute("class").split()
    page.stop()


def test_a_boost_edited_while_speaking_is_configured(page: Page, server: ScriptedServer) -> None:
    page.boost("jarvis:4")
    page.start()
    assert server.queries[0]["keywords"] == ["jarvis:4"]
    page.boost("smart mirror")
    page.until(lambda: page.text("#boost-state") == "In use by this stream")
    page.all("[aria-label='Weight of jarvis']")[0].send_keys(Keys.RIGHT)
    page.until(lambda: len(server.messages) == 2)
    page.click("[aria-label='Remove jarvis']")
    page.until(lambda: len(server.messages) == 3)
    page.stop()
    assert [message.get("keywords") for message in server.messages[:3]] == [
        ["jarvis:4", "smart mirror"],
        ["jarvis:4.5", "smart mirror"],
        ["smart mirror"],
    ]


def test_phrases_beyond_the_servers_limits_are_left_out(page: Page, server: ScriptedServer) -> None:
    server.script.boost_limits = {"phrases": 2, "phrase_characters": 200, "characters": 99}
    page.browser.get(server.url)
    page.until(lambda: page.text("#model") == "scripted")
    page.boost("jarvis, smart mirror, alexa")
    page.until(lambda: "1 left out: this server takes 2 phrases" in page.text("#boost-state"))
    assert [row.text for row in page.all("#boost-list .phrase")] == ["jarvis", "smart mirror"]


def test_a_phrase_that_cannot_be_boosted_is_named(page: Page, server: ScriptedServer) -> None:
    server.script.unboostable = ("björk",)
    page.start()
    page.boost("björk, jarvis")
    page.until(lambda: page.all(".unboostable"))
    assert page.text(".unboostable .phrase") == "björk"
    assert page.text(".unboostable .reason") == "cannot spell björk"
    page.stop()


def test_sliders_end_where_more_weight_changes_nothing(page: Page, server: ScriptedServer) -> None:
    page.boost("jarvis:9")
    server.script.boost_limits = {
        "phrases": 9, "phrase_characters": 200, "characters": 999, "weight": 6,
    }  # fmt: skip
    page.browser.get(server.url)
    page.until(lambda: page.text("#model") == "scripted")
    (slider,) = page.all("[aria-label='Weight of jarvis']")
    assert (slider.get_attribute("max"), page.text(".weight")) == ("6", "6.0")
    page.start()
    assert server.queries[0]["keywords"] == ["jarvis:6"]
    page.stop()


def test_a_weight_that_counts_as_less_is_told_until_it_is_changed(
    page: Page, server: ScriptedServer
) -> None:
    server.script.limited = ("jarvis:4",)
    page.start()
    page.boost("jarvis:4")
    page.until(lambda: page.text("#boost-list .reason") == "counts as less")
    assert page.all(".unboostable") == []
    page.all("[aria-label='Weight of jarvis']")[0].send_keys(Keys.LEFT)
    page.until(lambda: page.text("#boost-list .reason") == "")
    page.stop()


def test_words_are_settled_on_demand(page: Page, server: ScriptedServer) -> None:
    server.script.sentences = ENDLESS
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
    assert re.fullmatch(r"\d+ ms|\d+\.\d s", page.text("#latency-words"))
    assert float(page.text("#sent").split()[0]) > 0.5


def test_a_recording_takes_the_microphones_place(page: Page, server: ScriptedServer) -> None:
    """Streamed as it plays: as many seconds as it lasts, then the words that were spoken."""
    page.play("A wake phrase")
    page.until_state("open")
    page.until_state("closed")
    assert server.audio_s == pytest.approx(3.07, abs=0.05)
    assert "Spoken: smart mirror" in page.text(".notes")
    assert server.messages[-1] == {"type": "CloseStream"}


def test_a_recording_started_over_the_microphone_waits_for_its_last_words(
    page: Page, server: ScriptedServer
) -> None:
    server.script.sentences = ENDLESS
    page.start()
    page.until(lambda: page.all(".partial .word"))
    page.play("A digit")
    page.until(lambda: len(page.all(".take")) == 2)
    assert page.finals()
    page.until_state("closed")


def test_a_file_shows_progress_then_text_to_save(
    page: Page, server: ScriptedServer, speech: Path
) -> None:
    page.run(KEEP_SAVED)
    page.choose_file(speech)
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
    assert name == "smart-mirror.srt"
    assert text.startswith("1\n00:00:00,000 --> 00:00:01,225\nsmart mirror on the wall\n")


# Remembers what the page saves instead of saving it.
KEEP_SAVED = """
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.saved = [null, blob]; return make(blob); };
HTMLAnchorElement.prototype.click = function () { window.saved[0] = this.download; };
"""


def test_the_dock_shows_the_file_that_is_read_and_not_the_take_before(
    page: Page, server: ScriptedServer, speech: Path
) -> None:
    page.start()
    page.until(lambda: page.text("#latency-finals") != "–")
    page.stop()
    page.choose_file(speech)
    page.until(lambda: page.text("#state").startswith("Reading smart-mirror.opus, "))
    assert page.text("#state").endswith(" times real time")
    assert (page.text("#latency-words"), page.text("#latency-finals")) == ("–", "–")
    assert page.text("#sent") == "15.0 s"
    page.until(lambda: page.run(HAS_COLOUR, "--ribbon-settled"))
    server.script.upload_gate.set()
    page.until(lambda: page.text("#state") == "Ready")


def test_a_files_warnings_are_noted(page: Page, server: ScriptedServer, speech: Path) -> None:
    server.script.unboostable = ("björk",)
    server.script.upload_gate.set()
    page.choose_file(speech)
    page.until(lambda: page.text(".notes") == "björk: cannot spell")


def test_a_file_can_be_dropped_anywhere(page: Page, server: ScriptedServer) -> None:
    server.script.upload_gate.set()
    page.run("""
        const transfer = new DataTransfer();
        transfer.items.add(new File(["sound"], "meeting.wav", { type: "audio/wav" }));
        const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
        const event = (type) => new DragEvent(type, options);
        document.body.dispatchEvent(event("dragover"));
        window.curtainShown = !document.getElementById("curtain").hidden;
        document.body.dispatchEvent(event("drop"));
    """)
    page.until(lambda: page.finals() == list(server.script.sentences))
    assert server.uploads == [b"sound"]
    assert page.run("return window.curtainShown")
    assert page.all("#curtain")[0].get_attribute("hidden") is not None
    assert "meeting.wav" in page.text(".take h2")


def test_the_ribbon_turns_to_ink_as_words_settle(page: Page, server: ScriptedServer) -> None:
    server.script.sentences = ENDLESS
    page.start()
    page.until(lambda: page.run(HAS_COLOUR, "--ribbon-read"))
    assert not page.run(HAS_COLOUR, "--ribbon-settled")
    page.stop()
    page.until(lambda: page.run(HAS_COLOUR, "--ribbon-settled"))
    assert not page.run(HAS_COLOUR, "--ribbon-read")
    assert not page.run(HAS_COLOUR, "--ribbon-heard")


# Whether the ribbon shows a pixel of this colour.
HAS_COLOUR = """
const ribbon = document.getElementById('ribbon');
const probe = new OffscreenCanvas(1, 1).getContext('2d');
probe.fillStyle = getComputedStyle(ribbon).getPropertyValue(arguments[0]);
probe.fillRect(0, 0, 1, 1);
const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
const { data } = ribbon.getContext('2d').getImageData(0, 0, ribbon.width, ribbon.height);
for (let i = 0; i < data.length; i += 4) {
  if (data[i] === red && data[i + 1] === green && data[i + 2] === blue && data[i + 3] === 255) {
    return true;
  }
}
return false;
"""
