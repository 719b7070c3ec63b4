"""A NeMo model as its engine describes it."""

from __future__ import annotations

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.fastconformer.config import FastConformerModelConfig
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.engine.model_description import ModelDescription, count_parameters
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.stream.active_stream import StreamSettings

MARKS = frozenset(".?。？")


def describe_model(
    loaded: LoadedModel,
    config: FastConformerModelConfig,
    settings: StreamSettings,
    parts: ModelParts,
    modes: tuple[str, ...],
    *,
    buffered: bool,
) -> ModelDescription:
    """The model, and how this engine hears and decodes its streams."""
    return ModelDescription(
        name=loaded.name,
        format=loaded.format,
        parameters=count_parameters(loaded.model),
        vocab_size=loaded.tokenizer.vocab_size,
        sample_rate_hz=settings.sample_rate_hz,
        chunk_ms=settings.chunking.chunk_ms,
        chunks_ms=settings.chunks_ms,
        modes=modes,
        parts=parts.descriptions(),
        languages=loaded.languages,
        weights=loaded.weights,
        writes_marks=_writes_marks(loaded.tokenizer.units),
        heads=_heads(config),
        buffered=buffered,
    )


def _heads(config: FastConformerModelConfig) -> tuple[str, ...]:
    """The heads that there are, the default first."""
    found = []
    if config.transducer is not None:
        found.append("tdt" if config.transducer.durations else "rnnt")
    return (*found, *(["ctc"] if config.has_ctc else []))


def _writes_marks(units: UnitTable) -> bool:
    """Whether a unit ends sentences."""
    return any(not MARKS.isdisjoint(symbol) for symbol in units.symbols)
