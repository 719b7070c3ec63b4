"""An engine tells that it works, and that it sleeps."""

import threading
from types import SimpleNamespace

import pytest

from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.isolation import Isolation
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream_name import NAMELESS

WAIT_S = 60


class Heard:
    """A pulse that keeps what it was told."""

    def __init__(self):
        self.told = []
        self._news = threading.Condition()

    def beat(self):
        self._tell("beat")

    def rest(self):
        self._tell("rest")

    def _tell(self, sign):
        with self._news:
            self.told.append(sign)
            self._news.notify_all()

    def wait_for(self, condition):
        with self._news:
            assert self._news.wait_for(lambda: condition(self.told), WAIT_S)


@pytest.fixture
def pulse():
    return Heard()


@pytest.fixture
def engine(tone_model, pulse):
    config = EngineConfig(threads=1, chunk_size=8, max_streams=2)
    engine = Engine(build_recognizer(tone_model, config), config, pulse=pulse)
    engine.start()
    yield engine
    assert engine.stop(WAIT_S)


def test_an_engine_without_work_rests(engine, pulse):
    pulse.wait_for(lambda told: told == ["rest"])


def test_a_step_beats_between_its_stages(engine, pulse, sounds):
    pulse.wait_for(lambda told: told == ["rest"])
    sounds.transcribe(engine, sounds.speech("一二"))
    pulse.wait_for(lambda told: told[-1] == "rest")
    steps = engine.stats.steps
    assert pulse.told.count("beat") >= 4 * steps > 0  # called, encoded, decoded, published


def test_each_lane_that_is_tried_alone_beats():
    beats = []

    class Lane:
        stream = SimpleNamespace(name=NAMELESS)

    def breaks(lanes):
        raise RuntimeError

    isolation = Isolation(lambda stream, error: None, lambda: beats.append("beat"))
    assert isolation.together([Lane(), Lane(), Lane()], breaks) == []
    assert len(beats) == 1 + 3
