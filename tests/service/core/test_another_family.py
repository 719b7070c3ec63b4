"""A model family of its own, in a file of its own format, is served like any other."""

import json
from pathlib import Path

import numpy as np
import pytest
from knock_recognizer import KnockRecognizer, loaded_knocks

from earshot.models.checkpoints import checkpoint
from earshot.models.checkpoints.checkpoint import CheckpointFormat
from earshot.service.core.engine_setup import load_engine, served_model, warm_up
from earshot.service.settings import Settings
from earshot.streaming.assembly.families import FAMILIES, Family

KNOCK_FILE = CheckpointFormat(
    "a file .knock",
    claims=lambda path: path.suffix == ".knock",
    load=lambda path: loaded_knocks(path.read_text()),
    weights=lambda path: path,
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(checkpoint, "FORMATS", [KNOCK_FILE, *checkpoint.FORMATS])
    family = Family(lambda loaded, config, parts: KnockRecognizer(loaded, config))
    monkeypatch.setitem(FAMILIES, "knocks", family)
    (tmp_path / "door.knock").write_text("oak")
    return Settings.load(model=tmp_path / "door.knock")


@pytest.fixture
def engine(settings: Settings):
    engine = load_engine(settings)
    engine.start()
    warm_up(engine)
    yield engine
    assert engine.stop(60)


def knocking() -> bytes:
    samples = np.zeros(16_000, np.int16)
    samples[4_000:4_320] = samples[9_000:9_320] = 20_000
    return samples.tobytes()


async def test_a_file_is_transcribed(serve):
    async with serve() as server, server.client() as client:
        answer = await client.post(
            "/v1/listen?encoding=linear16&sample_rate=16000", content=knocking()
        )
    [alternative] = answer.json()["results"]["channels"][0]["alternatives"]
    assert alternative["transcript"] == "knock knock"


async def test_a_live_stream_is_heard(serve, read, text_of):
    async with serve() as server, server.listen() as socket:
        await socket.send(knocking())
        await socket.send(json.dumps({"type": "CloseStream"}))
        messages = await read(socket)
    assert text_of(messages) == "knock knock"


def test_it_is_described_by_its_file(engine, settings):
    described = served_model(engine, settings)
    assert (described.name, described.arch) == ("oak", "knocks")
    settings.model.write_text("elm")
    assert served_model(engine, settings).uuid != described.uuid


def test_its_card_is_what_lies_beside_its_file(engine, settings):
    assert served_model(engine, settings).card is None
    settings.model.with_suffix(".md").write_text("hears knocks")
    assert served_model(engine, settings).card == "hears knocks"
