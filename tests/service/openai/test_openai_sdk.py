"""OpenAI's own Python SDK, unchanged, against this server."""

import base64

import pytest
from form_files import recording

openai = pytest.importorskip("openai", reason="openai is not installed")

CLIP = ("clip.wav", recording(20, 30)["file"][1])


@pytest.fixture
async def sdk(live):
    """The SDK's client, pointed here as its users would."""
    async with live.client() as http:
        yield openai.AsyncOpenAI(
            api_key="any", base_url=f"{live.http}/v1", http_client=http, max_retries=0
        )


async def test_a_file(sdk):
    told = await sdk.audio.transcriptions.create(model="whisper-1", file=CLIP)
    assert told.text == "w20 w30"
    assert told.usage.seconds == 1.0


async def test_every_format_of_a_text(sdk):
    for kind in ("text", "srt", "vtt"):
        told = await sdk.audio.transcriptions.create(
            model="whisper-1", file=CLIP, response_format=kind
        )
        assert "w20 w30" in told


async def test_a_verbose_answer(sdk):
    told = await sdk.audio.transcriptions.create(
        model="whisper-1",
        file=CLIP,
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
    )
    assert [word.word for word in told.words] == ["w20", "w30"]
    assert [segment.text for segment in told.segments] == ["w20 w30"]
    assert type(told).model_validate(told.model_dump())  # all that its types ask for is there


async def test_a_stream(sdk):
    stream = await sdk.audio.transcriptions.create(
        model="gpt-4o-transcribe", file=CLIP, stream=True
    )
    told = [event async for event in stream]
    assert told[-1].type == "transcript.text.done"
    assert told[-1].text == "w20 w30"
    assert "".join(event.delta for event in told[:-1]) == "w20 w30"


async def test_keywords_and_our_own_parameters(sdk, engine):
    await sdk.audio.transcriptions.create(
        model="gpt-transcribe",
        file=CLIP,
        keywords=["iced tea", "latte"],
        extra_body={"endpointing": "500"},
    )
    config = engine.opened[-1].config
    assert [boost.phrase for boost in config.boosts] == ["iced tea", "latte"]
    assert config.endpoint.silence_ms == 500


async def test_errors_are_its_own_exceptions(sdk):
    with pytest.raises(openai.BadRequestError, match="no-such-model"):
        await sdk.audio.transcriptions.create(model="no-such-model", file=CLIP)
    with pytest.raises(openai.BadRequestError, match="known_speaker_names"):
        await sdk.audio.transcriptions.create(
            model="whisper-1", file=CLIP, known_speaker_names=["anna"]
        )


async def test_models(sdk):
    names = [model.id async for model in sdk.models.list()]
    assert "whisper-1" in names
    assert (await sdk.models.retrieve("whisper-1")).id == "whisper-1"
    with pytest.raises(openai.NotFoundError):
        await sdk.models.retrieve("no-such-model")


async def test_a_realtime_session(sdk, tone):
    told = []
    async with sdk.realtime.connect(
        model="gpt-4o-transcribe", extra_query={"intent": "transcription"}
    ) as connection:
        await connection.session.update(
            session={
                "type": "transcription",
                "audio": {
                    "input": {
                        "format": {"type": "audio/pcm", "rate": 24000},
                        "transcription": {"model": "gpt-4o-transcribe", "language": "en"},
                        "turn_detection": {"type": "server_vad", "silence_duration_ms": 500},
                    }
                },
            }
        )
        audio = base64.b64encode(tone(1.2, 0.2, 24000)).decode()
        await connection.input_audio_buffer.append(audio=audio)
        await connection.input_audio_buffer.commit()
        async for event in connection:
            assert type(event).model_validate(event.model_dump())
            told.append(event)
            if event.type.endswith(".completed"):
                break
    assert [event.type for event in told[:2]] == ["session.created", "session.updated"]
    assert told[-1].transcript == "w20 w20"
    deltas = [event.delta for event in told if event.type.endswith(".delta")]
    assert "".join(deltas) == "w20 w20"
