"""How many engines a server has."""

import pytest

from earshot.service.core import engine_setup
from earshot.service.core.engine_setup import engines_of, load_engine
from earshot.service.errors import StartupError
from earshot.service.settings import Settings


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(
        engine_setup, "default_engines", lambda device, threads: 8 // (threads or 1)
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"engines": 3}, 3),
        ({}, 8),
        ({"threads": 4}, 2),
        ({"max_streams": 1000}, 8),
        ({"max_streams": 1000, "threads": 4}, 2),
        ({"max_streams": 64, "max_batch": 16}, 4),
        ({"max_streams": 4}, 1),
    ],
)
def test_they_keep_the_cores_busy_and_have_a_full_step_each(asked, expected):
    assert engines_of(Settings(**asked)) == expected


@pytest.mark.parametrize(
    ("asked", "engines", "streams"),
    [({}, 1, 50), ({}, 8, 400), ({"max_streams": 64}, 8, 64), ({"max_streams": 1}, 1, 1)],
)
def test_each_brings_room_for_fifty_streams_unless_they_are_counted(
    monkeypatch, asked, engines, streams
):
    built = {}
    for build in ("build_engine", "build_pool"):
        monkeypatch.setattr(
            engine_setup, build, lambda *arguments, **_: built.update(config=arguments[2])
        )
    load_engine(Settings(**asked), engines=engines)
    assert built["config"].max_streams == streams


def test_more_engines_than_streams_are_refused():
    with pytest.raises(StartupError, match="3 engines for 2 streams"):
        load_engine(Settings(max_streams=2), engines=3)
