"""Deepgram's own Python SDK, unchanged, against this server."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

deepgram = pytest.importorskip("deepgram", reason="deepgram-sdk is not installed")

# The SDK imports a name that websockets deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:websockets:DeprecationWarning")


@pytest.fixture
async def sdk(live):
    """The SDK's client, pointed here as its users would."""
    from deepgram import AsyncDeepgramClient
    from deepgram.environment import DeepgramClientEnvironment

    environment = DeepgramClientEnvironment(
        base=live.http, production=live.ws, agent=live.ws, agent_rest=live.http
    )
    async with live.client() as http:
        yield AsyncDeepgramClient(api_key="any", environment=environment, httpx_client=http)


async def test_live(sdk, tone):
    from deepgram.core.events import EventType
    from deepgram.listen.v1.types import ListenV1Configure

    received = []
    async with sdk.listen.v1.connect(
        model="nova-3",
        encoding="linear16",
        sample_rate=16000,
        interim_results=True,
        endpointing=300,
        keyterm=["iced tea", "espresso"],
        punctuate=True,
    ) as connection:
        connection.on(EventType.MESSAGE, received.append)
        listening = asyncio.create_task(connection.start_listening())
        await connection.send_configure(ListenV1Configure(keyterms=["green tea"]))
        await connection.send_media(tone(1.0, 0.3))
        await connection.send_keep_alive()
        await connection.send_finalize()
        await connection.send_media(tone(0.5, 0.4))
        await connection.send_close_stream()
        await asyncio.wait_for(listening, 60)
    kinds = [type(message).__name__ for message in received]
    assert kinds[0] == "ListenV1ConfigureSuccess"
    assert kinds[-1] == "ListenV1Metadata"
    finals = [each for each in received if getattr(each, "is_final", False)]
    assert [final.channel.alternatives[0].transcript for final in finals] == ["w30 w30", "w40"]
    assert [final.from_finalize for final in finals] == [True, False]
    assert finals[0].channel.alternatives[0].words[1].start == 0.5
    assert finals[0].metadata.model_info.name == "scripted"


async def test_file(sdk, tone):
    import io
    import wave

    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, 16000, 0, "NONE", ""))
        wav.writeframes(tone(1.0, 0.3))
    response = await sdk.listen.v1.media.transcribe_file(
        request=file.getvalue(), model="nova-3", smart_format=True, utterances=True
    )
    assert response.results.channels[0].alternatives[0].transcript == "w30 w30"
    assert response.results.utterances[0].transcript == "w30 w30"
    assert response.metadata.duration == 1.0
    divided = response.results.channels[0].alternatives[0].paragraphs
    assert divided.transcript == "\nw30 w30"
    (paragraph,) = divided.paragraphs
    assert (paragraph.num_words, paragraph.start, paragraph.end) == (2.0, 0.0, 1.0)
    assert (paragraph.sentences[0].text, paragraph.sentences[0].end) == ("w30 w30", 1.0)


async def test_a_refused_file_raises_the_sdks_error(sdk):
    from deepgram.core.api_error import ApiError

    with pytest.raises(ApiError) as caught:
        await sdk.listen.v1.media.transcribe_file(request=b"garbage", model="nova-3")
    assert caught.value.status_code == 400
    assert caught.value.body["err_code"] == "UNDECODABLE_AUDIO"


async def test_a_refused_handshake_raises_the_sdks_error(sdk):
    from deepgram.core.api_error import ApiError

    with pytest.raises(ApiError) as caught:
        async with sdk.listen.v1.connect(model="no-such-model"):
            pass
    assert caught.value.status_code == 400


TERMS = [
    "GPT-4", "AT&T", "5G", "C++", "10:30", "COVID-19", "iPhone 15", "hello, world", "中文",
]  # fmt: skip
"""As users write them; the scripted engine boosts none that has a digit or Chinese letters."""


@pytest.fixture(params=["6", "7"])
def sdk_path(request, repository_dir):
    """Where a major release of the SDK is: the tests' own, or the one before it in build/."""
    if request.param == "7":
        return Path(deepgram.__file__).parents[1]
    folder = repository_dir / "build" / "deepgram-sdk-6"
    if not (folder / "deepgram").is_dir():
        pytest.skip("deepgram-sdk 6 is missing (make build/deepgram-sdk-6)")
    return folder


async def test_no_keyterm_ends_the_listening_of_the_readmes_handler(live, sdk_path):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        Path(__file__).with_name("deepgram_listener.py"),
        str(live.port),
        *TERMS,
        env={**os.environ, "PYTHONPATH": str(sdk_path), "PYTHONUTF8": "1"},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    lines = out.decode().splitlines()
    heard = [json.loads(line) for line in lines if line.startswith("{")]
    assert [each["keyterms"] for each in heard] == [*([term] for term in TERMS), TERMS]
    assert {(*each["said"], *each["errors"]) for each in heard} == {("w30 w30",)}
    events = [line for line in lines if not line.startswith("{")]
    assert events == ["Received Results event", "Received Metadata event"] * len(heard)
