"""Where several engines can be, and where one has to do."""

import pytest

from earshot.streaming.assembly import engine_factory
from earshot.streaming.assembly.engine_factory import build_pool, default_engines
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(engine_factory, "usable_cores", lambda: 8)


@pytest.mark.parametrize(("threads", "expected"), [(None, 8), (3, 2), (16, 1)])
def test_there_are_as_many_as_keep_the_cores_busy(threads, expected):
    assert default_engines("cpu", threads) == expected


def test_where_no_process_can_be_forked_there_is_one(monkeypatch):
    monkeypatch.setattr(engine_factory, "_CAN_FORK", False)
    assert default_engines("cpu", None) == 1
    with pytest.raises(InvalidEngineConfig, match="2 engines: several need Linux"):
        build_pool(None, {}, EngineConfig(), 2, device="cpu")
