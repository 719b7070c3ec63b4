"""The service around an engine with language models, and what its clients send and read."""

from pathlib import Path

import numpy as np
from fastapi import FastAPI

from earshot.service.core.metrics import Metrics
from earshot.service.core.services import Services
from earshot.service.gateway.app import create_app
from earshot.service.gateway.dialects import DIALECTS
from earshot.service.gateway.metrics_of_engine import watch_engine
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings
from earshot.streaming.engine.engine import Engine


def app_of(engine: Engine, lms: Path) -> FastAPI:
    model = ServedModel("tones", "1", "fake", "00000000-0000-0000-0000-000000000000")
    metrics = Metrics()
    watch_engine(metrics, engine)
    return create_app(Services.build(engine, model, Settings(lm_dir=lms), metrics), DIALECTS)


def pcm(samples: np.ndarray) -> bytes:
    return (samples * 32767).astype("<i2").tobytes()


def transcript(answer) -> str:
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]["channels"][0]["alternatives"][0]["transcript"]


def final(socket) -> str:
    while not (message := socket.receive_json()).get("is_final"):
        assert message["type"] == "Results", message
    return message["channel"]["alternatives"][0]["transcript"]
