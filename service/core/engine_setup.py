"""The engine that the settings ask for; what stands in its way becomes one line."""

import hashlib
import queue
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np

from earshot.models.bundled import bundled_model_dir
from earshot.models.errors import ModelError
from earshot.service.core.engine_port import EngineHost, EnginePort
from earshot.service.core.model_card import read_card
from earshot.service.errors import StartupError
from earshot.service.part_settings import PART_FILES, PART_OPTIONS
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings
from earshot.streaming.assembly.engine_factory import build_engine, build_pool, default_engines
from earshot.streaming.engine.engine_stats import Observer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import MissingPart, StreamClosed, StreamingError, UnusableGraph
from earshot.streaming.events import Closed, Event, Failed
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.resolver import find_parts
from earshot.streaming.parts.table import engine_fields
from earshot.streaming.requests import FINISH, Push
from earshot.streaming.stream_config import WHOLE, WHOLE_NAME, Boost, StreamConfig

STOP_S = 5.0
UNHEARD_OF = "qwxzj"


def load_engine(
    settings: Settings, observer: Observer | None = None, engines: int = 1
) -> EngineHost:
    """Build an engine that is not started yet, or several behind one face.

    Raises:
        StartupError: the model or the graph cannot be read or used as the settings ask; the
            message says why.
    """
    parts = _parts_of(settings)
    try:
        model, device = settings.model, settings.device
        config = _engine_config(settings, engines)
        if engines == 1:
            return build_engine(model, parts, config, device=device, observer=observer)
        return build_pool(model, parts, config, engines, device=device, observer=observer)
    except UnusableGraph as error:
        raise StartupError(f"cannot use the graph {parts[GRAPH.name]}: {error}") from error
    except (ModelError, StreamingError, OSError) as error:
        raise StartupError(f"cannot use {_name_of(settings.model)}: {error}") from error


@contextmanager
def running_engine(
    settings: Settings, observer: Observer | None = None, engines: int = 1
) -> Iterator[EngineHost]:
    """Run an engine inside the block; raises StartupError as `load_engine` does."""
    engine = load_engine(settings, observer, engines)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop(STOP_S)


def engines_of(settings: Settings) -> int:
    """How many a server has: as the settings say, or so that all cores are used.

    But where the streams are counted, no more than can have a full step each: streams that share
    one cost less. Else there are as many streams as the engines carry.

    Raises:
        StartupError: there is no such device.
    """
    try:
        most = default_engines(settings.device, settings.threads)
    except StreamingError as error:
        raise StartupError(str(error)) from error
    if settings.max_streams is not None:
        most = min(most, settings.max_streams // settings.max_batch)
    return settings.engines or max(most, 1)


def warm_up(engine: EnginePort, languages: Sequence[str] = ()) -> None:
    """Decode a moment of silence, and boost a word that nobody knows.

    The first step takes longer, and the first new word has the lexicon sorted: no client should
    wait for either. languages: of the model, which may have to be told one.

    Raises:
        StartupError: it cannot be decoded, and so nothing can.
    """
    ended: queue.SimpleQueue[Closed | Failed] = queue.SimpleQueue()

    def sink(event: Event) -> None:
        if isinstance(event, Closed | Failed):
            ended.put(event)

    language = next(iter(languages), None)
    stream = engine.open(StreamConfig(boosts=(Boost(UNHEARD_OF),), language=language), sink)
    with suppress(StreamClosed):  # it has failed already: its last event says why
        stream.ask(Push(np.zeros(engine.sample_rate_hz, np.float32)))
        stream.ask(FINISH)
    last = ended.get()
    if isinstance(last, Failed):
        raise StartupError(f"the model does not decode: {last.error}") from last.error


def served_model(engine: EngineHost, settings: Settings) -> ServedModel:
    """Describe the engine's model to clients; its version and id follow from its weights."""
    about = asdict(engine.model)
    about |= about.pop("parts")
    weights = _digest(about.pop("weights"), about["name"])
    del about["languages"]
    chunks_ms = about.pop("chunks_ms")
    about["chunks_ms"] = [WHOLE_NAME if each == WHOLE else each for each in chunks_ms]
    return ServedModel(
        name=about.pop("name"),
        version=weights[:12],
        arch=about.pop("format"),
        uuid=str(uuid.uuid5(uuid.NAMESPACE_OID, weights)),
        languages=languages_of(engine, settings),
        modes=engine.model.modes,
        chunks_ms=chunks_ms,
        most_earned=about.pop("most_earned"),
        writes_marks=about.pop("writes_marks") or about.get("tagger", True) is not None,
        detects_turns=engine.model.detects_turns,
        card=read_card(settings.model or bundled_model_dir()),
        details=about,
    )


def languages_of(engine: EngineHost, settings: Settings) -> tuple[str, ...]:
    """What may be asked for: as the operator says, or else the model; empty where neither does."""
    return settings.languages or engine.model.languages


def _parts_of(settings: Settings) -> dict[str, Path]:
    """The files of the model's parts. Raises StartupError."""
    wishes = {name: getattr(settings, name) for name in PART_FILES}
    named = settings.model_fields_set.intersection(PART_OPTIONS)
    try:
        return find_parts(settings.model, wishes, named)
    except MissingPart as error:
        raise StartupError(str(error)) from error


def _digest(weights: Path | None, name: str) -> str:
    """Identity of the weights; of the name alone where no file brought them."""
    if weights is None:
        return hashlib.sha256(name.encode()).hexdigest()
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _name_of(directory: Path | None) -> str:
    return "the bundled model" if directory is None else f"the model {directory}"


def _engine_config(settings: Settings, engines: int) -> EngineConfig:
    return EngineConfig(
        max_streams=settings.streams_of(engines),
        chunk_size=settings.chunk_size,
        num_left_chunks=settings.num_left_chunks,
        max_batch=settings.max_batch,
        max_wait_ms=settings.max_wait_ms,
        max_backlog_s=settings.max_backlog_s,
        threads=settings.threads,
        precision=settings.precision,
        beam_size=settings.beam_size,
        lm_dir=settings.lm_dir,
        options=_family_options(settings),
        **engine_fields(settings.of_parts),
    )


def _family_options(settings: Settings) -> dict[str, object]:
    """Options for the sake of a model's family, which refuses what it does not know."""
    asked = {name: getattr(settings, name) for name in ("transducer_beam", "transducer_loop")}
    return {name: value for name, value in asked.items() if value not in (None, "auto")}
