"""A NeMo model as its engine describes it."""

from __future__ import annotations

from dataclasses import replace

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.fastconformer.config import FastConformerModelConfig
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.parts.described_model import described_model
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.transducer.marks import Marks


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
    marks = Marks(loaded.tokenizer.units.symbols)
    described = described_model(loaded, settings, parts, modes, _heads(config))
    return replace(described, writes_marks=bool(marks.ids), buffered=buffered)


def _heads(config: FastConformerModelConfig) -> tuple[str, ...]:
    """The heads that there are, the default first."""
    found = []
    if config.transducer is not None:
        found.append(config.transducer.kind)
    return (*found, *(["ctc"] if config.has_ctc else []))
