"""Where several engines can be, and where one has to do."""

import pytest

from earshot.streaming.assembly import engine_factory
from earshot.streaming.assembly.engine_factory import build_engine, build_pool, default_engines
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(engine_factory, "usable_cores", lambda: 8)


@pytest.mark.parametrize(("threads", "expected"), [(None, 8), (3, 2), (16, 1)])
def test_there_are_as_many_as_keep_the_cores_busy(threads, expected):
    assert default_engines("cpu", threads) == expected


@pytest.fixture
def built(monkeypatch) -> list[EngineConfig]:
    """What engines are built for."""
    found: list[EngineConfig] = []
    monkeypatch.setattr(engine_factory, "_recognizer", lambda *_: None)
    monkeypatch.setattr(engine_factory, "Engine", lambda _, config, *__: found.append(config))
    monkeypatch.setattr(engine_factory, "EnginePool", lambda _, config, *__: found.append(config))
    return found


@pytest.mark.parametrize(
    ("engines", "asked", "threads"),
    [(1, None, 8), (2, None, 4), (3, None, 2), (8, None, 1), (20, None, 1), (2, 3, 3), (1, 5, 5)],
)
def test_fewer_engines_than_cores_are_dealt_their_threads(built, engines, asked, threads):
    config = EngineConfig(max_streams=20, threads=asked)
    if engines == 1:
        build_engine(None, {}, config, device="cpu")
    else:
        build_pool(None, {}, config, engines, device="cpu")
    assert [own.threads for own in built] == [threads]


def test_where_no_process_can_be_forked_there_is_one(monkeypatch):
    monkeypatch.setattr(engine_factory, "_CAN_FORK", False)
    assert default_engines("cpu", None) == 1
    with pytest.raises(InvalidEngineConfig, match="2 engines: several need Linux"):
        build_pool(None, {}, EngineConfig(), 2, device="cpu")
