"""The engine that the settings ask for; what stands in its way becomes one line."""

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

STOP_S = 5.0


@contextmanager
def running_engine(settings: Settings, observer: Observer | None = None) -> Iterator[Engine]:
    """Run an engine inside the block.

    Raises:
        StartupError: the model cannot be read or used as the settings ask; the message says why.
    """
    if settings.graph is not None:
        raise StartupError(
            "--graph: decoding with a graph is not built yet; docs/architecture.md says what is"
        )
    try:
        engine = build_engine(settings.model, settings.device, _engine_config(settings), observer)
    except (ModelError, StreamingError, OSError) as error:
        name = "the bundled model" if settings.model is None else f"the model {settings.model}"
        raise StartupError(f"cannot use {name}: {error}") from error
    engine.start()
    try:
        yield engine
    finally:
        engine.stop(STOP_S)


def _engine_config(settings: Settings) -> EngineConfig:
    return EngineConfig(
        max_streams=settings.max_streams,
        chunk_size=settings.chunk_size,
        num_left_chunks=settings.num_left_chunks,
        max_batch=settings.max_batch,
        max_wait_ms=settings.max_wait_ms,
        max_backlog_s=settings.max_backlog_s,
        threads=settings.threads,
        beam_size=settings.beam_size,
    )
