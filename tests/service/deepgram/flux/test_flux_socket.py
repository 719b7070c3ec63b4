"""`/v2/listen` over a real socket, and Deepgram's own Python SDK, unchanged, against it."""

import asyncio
import json
from dataclasses import replace

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from earshot.streaming.events import EagerEndOfTurn, Final, TurnResumed

# The SDK imports a name that websockets deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:websockets:DeprecationWarning")


@pytest.fixture
def served(served):
    return replace(served, detects_turns=True)


@pytest.fixture
async def sdk(live):
    """The SDK's client, pointed here as its users would."""
    pytest.importorskip("deepgram", reason="deepgram-sdk is not installed")
    from deepgram import AsyncDeepgramClient
    from deepgram.environment import DeepgramClientEnvironment

    environment = DeepgramClientEnvironment(
        base=live.http, production=live.ws, agent=live.ws, agent_rest=live.http
    )
    async with live.client() as http:
        yield AsyncDeepgramClient(api_key="any", environment=environment, httpx_client=http)


async def received(connection, kind: str):
    """The next message, which is to be of that type, or a turn's with that event."""
    message = await asyncio.wait_for(connection.recv(), 60)
    assert kind in (message.type, getattr(message, "event", None)), message
    return message


async def test_the_sdk_hears_a_turn_from_its_start_to_its_end(sdk, live, tone):
    from deepgram.listen.v2.types import ListenV2Configure, ListenV2ConfigureThresholds

    async with sdk.listen.v2.connect(
        model="flux-general-en",
        encoding="linear16",
        sample_rate=16000,
        eager_eot_threshold=0.5,
        keyterm=["iced tea"],
    ) as connection:
        greeting = await received(connection, "Connected")
        assert (type(greeting).__name__, greeting.sequence_id) == ("ListenV2Connected", 0)
        await connection.send_configure(
            ListenV2Configure(thresholds=ListenV2ConfigureThresholds(eot_threshold=0.8))
        )
        success = await received(connection, "ConfigureSuccess")
        assert (success.thresholds.eot_threshold, success.keyterms) == (0.8, ["iced tea"])
        await connection.send_media(tone(0.5, 0.3))
        start = await received(connection, "StartOfTurn")
        assert (start.transcript, start.words[0].word) == ("w30", "w30")
        stream = live.engine.streams[-1]
        said = Final(0.0, 0.5, stream._alternatives(), True, False, "endpoint")
        stream.sink(EagerEndOfTurn(replace(said, end_of_turn_confidence=0.55)))
        eager = await received(connection, "EagerEndOfTurn")
        assert (eager.transcript, eager.end_of_turn_confidence) == ("w30", 0.55)
        stream.sink(TurnResumed(1.0))
        await received(connection, "TurnResumed")
        await connection.send_media(tone(0.5, 0.4))
        assert (await received(connection, "Update")).transcript == "w30 w40"
        await connection.send_force_end_turn()
        end = await received(connection, "EndOfTurn")
        assert (end.transcript, end.trigger, end.turn_index) == ("w30 w40", "manual", 0)
        await connection.send_close_stream()
        messages = [message async for message in connection]
    assert messages == []


async def test_the_sdk_is_told_why_a_configure_is_refused(sdk):
    async with sdk.listen.v2.connect(
        model="flux-general-en", encoding="linear16", sample_rate=16000
    ) as connection:
        await received(connection, "Connected")
        await connection.send_configure({"type": "Configure", "thresholds": {"eot_threshold": 2}})
        failure = await received(connection, "ConfigureFailure")
        assert failure.code == "CONFIGURE_INVALID"
        assert "thresholds.eot_threshold" in failure.description


async def test_the_sdk_is_told_of_an_error_before_the_close(sdk):
    async with sdk.listen.v2.connect(
        model="flux-general-en", encoding="linear16", sample_rate=16000
    ) as connection:
        await received(connection, "Connected")
        await connection._send({"type": "Dance"})
        error = await received(connection, "Error")
        assert (type(error).__name__, error.sequence_id) == ("ListenV2FatalError", 1)


async def test_a_refused_handshake_raises_the_sdks_error(sdk):
    from deepgram.core.api_error import ApiError

    with pytest.raises(ApiError) as caught:
        async with sdk.listen.v2.connect(model="no-such-model"):
            pass
    assert caught.value.status_code == 400


async def test_a_refusal_has_deepgrams_shape(live):
    with pytest.raises(InvalidStatus) as caught:
        async with connect(f"{live.ws}/v2/listen?model=flux-general-en&eot_threshold=2"):
            pass
    response = caught.value.response
    assert response.status_code == 400
    assert json.loads(response.body)["err_code"] == "INVALID_QUERY_PARAMETER"
    assert "eot_threshold=2" in response.headers["dg-error"]


async def test_the_models_that_there_are_have_fluxs_names(live):
    async with live.client() as client:
        (model,) = (await client.get("/v1/models")).json()["stt"]
    assert {"flux-general-en", "flux-general-multi", "nova-3"} <= set(model["aliases"])


async def test_audio_in_a_wav_file_needs_no_encoding(live, tone, read):
    import io
    import wave

    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, 16000, 0, "NONE", ""))
        wav.writeframes(tone(1.0, 0.3))
    async with connect(f"{live.ws}/v2/listen?model=flux-general-en", proxy=None) as socket:
        await socket.send(file.getvalue())
        await socket.send('{"type": "CloseStream"}')
        messages = await read(socket)
    assert messages[-1]["event"] == "EndOfTurn"
    assert messages[-1]["transcript"] == "w30 w30"
