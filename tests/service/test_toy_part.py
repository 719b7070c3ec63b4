"""A part of a model that nobody knew, from its file beside the model to a request's final."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from shouting_part import SHOUTING

from earshot.models.bundled import bundled_model_dir
from earshot.service.core.engine_port import EngineHost
from earshot.service.core.engine_setup import load_engine, served_model
from earshot.service.settings import Settings
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.neural_lm import NEURAL_LM
from earshot.streaming.parts.table import PARTS
from earshot.streaming.parts.tagger import TAGGER
from earshot.streaming.stream_config import StreamConfig


@pytest.fixture(scope="module", autouse=True)
def _known_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PARTS, SHOUTING.name, SHOUTING)
        yield


def model_in(folder: Path) -> Settings:
    """A model with the toy beside it, and without other parts: it is loaded faster."""
    for file in bundled_model_dir().iterdir():
        if file.name not in (GRAPH.file, NEURAL_LM.file, TAGGER.file):
            (folder / file.name).symlink_to(file)
    (folder / SHOUTING.file).write_text("1")
    return Settings.load(model=folder, max_streams=4)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return model_in(tmp_path_factory.mktemp("with"))


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> tuple[EngineHost, Settings]:
    """An engine of a model that the toy does not lie beside."""
    settings = model_in(tmp_path_factory.mktemp("without"))
    (settings.model / SHOUTING.file).unlink()
    return load_engine(settings), settings


@pytest.fixture(scope="module", params=[1, 2])
def engine(request: pytest.FixtureRequest, settings: Settings) -> Iterator[EngineHost]:
    """One engine, or two in processes of their own."""
    engine = load_engine(settings, engines=request.param)
    engine.start()
    yield engine
    assert engine.stop(60)


@pytest.fixture
def spoken(repository_dir: Path) -> tuple[str, bytes]:
    """Somebody says "smart mirror": the query that says how, and the samples."""
    file = repository_dir / "web" / "samples" / "smart-mirror.opus"
    samples, rate_hz = soundfile.read(file)
    return f"encoding=linear16&sample_rate={rate_hz}", (samples * 32767).astype("<i2").tobytes()


async def test_a_file_is_shouted_where_its_request_asks_for_it(serve, spoken):
    async with serve() as server, server.client() as client:
        query, audio = spoken
        asked = [f"/v1/listen?{query}{more}" for more in ("", "&punctuate=true&shout=true")]
        answers = [await client.post(path, content=audio) for path in asked]
    plain, shouted = (each.json()["results"]["channels"][0]["alternatives"][0] for each in answers)
    assert plain["transcript"] == "smart mirror"
    assert shouted["transcript"] == "SMART mirror."
    assert [word["punctuated_word"] for word in shouted["words"]] == ["SMART", "mirror."]
    assert [word["start"] for word in shouted["words"]] == [
        word["start"] for word in plain["words"]
    ]


async def test_a_live_stream_is_shouted(serve, read, text_of, spoken):
    query, audio = spoken
    async with serve() as server, server.listen(f"{query}&punctuate=true&shout=true") as socket:
        await socket.send(audio)
        await socket.send(json.dumps({"type": "CloseStream"}))
        messages = await read(socket)
    assert text_of(messages).split() == ["SMART", "mirror."]


async def test_a_value_that_is_none_is_refused(serve):
    async with serve() as server, server.client() as client:
        answer = await client.post("/v1/listen?shout=loud", content=b"")
    assert answer.status_code == 400
    assert "shout=loud: must be true or false" in answer.json()["err_msg"]


def test_a_model_is_described_with_it(settings, engine):
    assert served_model(engine, settings).details["shouting"] == {"words": 1}


def test_a_model_is_described_without_it(without):
    assert served_model(*without).details["shouting"] is None


def test_a_stream_that_asks_for_it_where_it_is_not_is_refused(without):
    engine, _ = without
    with pytest.raises(InvalidStreamConfig, match="shout: there is no shouting part here"):
        engine.rules.choose_search(StreamConfig(parts={"shout": True}))
