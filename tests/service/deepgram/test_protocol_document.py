"""docs/protocol.md: its clients run, and its tables are complete."""

import asyncio
import json
import re
import shutil
import sys
import wave

import numpy as np
import pytest

from earshot.service.deepgram.response.wire import ConfigureFailure
from earshot.service.errors import BadRequest
from earshot.service.outcomes import OUTCOMES
from earshot.service.request.boosts import BoostRules
from earshot.service.request.languages import Languages
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.request.request_warning import RequestWarning
from earshot.service.request.unserved import IGNORED, REFUSED


@pytest.fixture(scope="module")
def document(repository_dir):
    return (repository_dir / "docs" / "protocol.md").read_text()


def example(document, language):
    """The document's first example in a language."""
    return re.search(rf"```{language}\n(.*?)```", document, re.S)[1]


@pytest.fixture(params=[1, 2], ids=["mono", "stereo"])
def recording(request, tmp_path, tone):
    """A wav of half a second each of two loudnesses."""
    path = tmp_path / "speech.wav"
    with wave.open(str(path), "wb") as wav:
        wav.setparams((request.param, 2, 16000, 0, "NONE", ""))
        mono = np.frombuffer(tone(0.5, 0.2) + tone(0.5, 0.3), "<i2")
        wav.writeframes(np.repeat(mono, request.param).tobytes())
    return path


async def test_the_python_client_works(live, document, recording, tmp_path):
    script = tmp_path / "client.py"
    script.write_text(
        example(document, "python").replace("127.0.0.1:8000", f"127.0.0.1:{live.port}")
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, recording, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, out) == (0, b"w20 w30\n")


@pytest.mark.browser
async def test_the_browser_client_works(live, document, tmp_path):
    from browser_page import allow_microphone, start_chromium

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium is missing (apt-get install chromium chromium-driver)")
    microphone = tmp_path / "microphone.wav"
    with wave.open(str(microphone), "wb") as wav:
        wav.setparams((1, 2, 48000, 0, "NONE", ""))
        tone = np.sin(2 * np.pi * 300 * np.arange(5 * 48000) / 48000) * 16000
        wav.writeframes(tone.astype("<i2").tobytes())

    def run_page():
        browser = start_chromium(chromium, driver, tmp_path / "profile", microphone)
        try:
            allow_microphone(browser, "granted")
            browser.get(f"{live.http}/")
            browser.set_script_timeout(60)
            return browser.execute_async_script(
                "const done = arguments[0];"
                "console.log = (final, text) => {"
                " if (text.split(' ').length > 2) done([final, text]); };"
                f"(async () => {{ {example(document, 'js')} }})().catch((e) => done(String(e)));"
            )
        finally:
            browser.quit()

    final, text = await asyncio.to_thread(run_page)
    assert final is False
    # How loud depends on the browser's gain control; silence would be w0.
    assert max(int(word.removeprefix("w")) for word in text.split()) > 5


def test_every_code_is_described(document):
    codes = {outcome.err_code for outcome in OUTCOMES.values()} - {"SLOW_READER"}
    codes |= set(ConfigureFailure.model_fields["code"].annotation.__args__)
    codes -= {"CONFIGURE_INTERNAL_ERROR"}
    assert [code for code in codes if f"`{code}`" not in document] == []


def test_every_close_code_is_described(document):
    table = document.split("### Close codes")[1].split("## Files")[0]
    rows = {(outcome.close_code, outcome.close_reason) for outcome in OUTCOMES.values()}
    on_sockets = {
        row for row in rows if row[1] in ("DATA-0000", "NET-0000", "NET-0001", "NET-0004")
    }
    missing = [
        (code, reason)
        for code, reason in on_sockets
        if not re.search(rf"\| {code} \| `{reason}`", table)
        and (code, reason) != (1008, "NET-0001")
    ]
    assert missing == []


def test_the_documented_parameters_are_those_that_count(document):
    """Each name of the table is read: a value that cannot be is refused."""
    table = document.split("## Parameters")[1].split("**Boosting.**")[0]
    names = [
        name
        for row in re.findall(r"^\| ((?:`\w+`,? ?)+)", table, re.M)
        for name in re.findall(r"`(\w+)`", row)
    ]
    assert len(names) == 31
    rules = ParameterRules(
        ModelNames("m"),
        BoostRules(max_phrases=0),
        part_caps={"max_active": 1000},
        languages=Languages(("en",)),
        modes=("attention_rescoring",),
        chunks_ms=(640.0,),
    )
    for name in names:
        query = [(name, "?")] if name != "sample_rate" else [("encoding", "linear16"), (name, "?")]
        with pytest.raises(BadRequest, match=rf"{name}|phrases|channel"):
            parse_parameters(query, rules, is_file=False)


def test_what_is_left_out_is_what_the_server_refuses_or_names(document):
    part = document.split("## What is left out")[1]
    refused, warned = (
        set(re.findall(r"`(\w+)`", re.search(rf"\*\*{how}\*\*(.*?)\n\n", part, re.S)[1]))
        for how in ("Refused", "Named in a warning")
    )
    assert refused == {*REFUSED, "language"}
    assert warned - {"latest", "false"} == set(IGNORED)


def test_the_example_messages_are_json(document):
    examples = re.findall(r"```json\n(.*?)```", document, re.S)
    assert len(examples) == 3
    assert RequestWarning.model_validate_json(examples[0]).phrase == "中文"
    assert json.loads(examples[1])["type"] == "Results"
    assert json.loads(examples[2]).keys() == {"metadata", "results"}


def test_every_type_of_warning_is_described(document):
    table = document.split("### Warnings")[1].split("### ")[0]
    types = RequestWarning.model_fields["type"].annotation.__args__
    assert [kind for kind in types if f"| `{kind}` |" not in table] == []


def test_the_readme_shows_the_same_clients(document, repository_dir):
    readme = (repository_dir / "README.md").read_text()
    for language in ("python", "js"):
        assert example(document, language) in readme, f"README.md has another {language} client"
