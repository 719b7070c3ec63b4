"""Build the engine that the settings ask for; what stands in the way becomes one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from models.errors import ModelError
from service.errors import StartupError
from service.settings import Settings
from streaming.engine import Engine
from streaming.engine_config import EngineConfig
from streaming.engine_factory import build_engine
from streaming.engine_stats import Observer
from streaming.errors import StreamingError
