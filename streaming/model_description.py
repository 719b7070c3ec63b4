"""What there is to say of the model that an engine runs."""

from dataclasses import dataclass

from models.checkpoint import LoadedModel
from streaming.active_stream import StreamSettings
from streaming.stream_config import DECODING_MODES, DecodingMode


@dataclass(frozen=True)
class ModelDescription:
    """format: "earshot" or "wenet". chunk_ms: audio between two steps of one stream."""

    name: str
    format: str
    parameters: int
    vocab_size: int
    sample_rate_hz: int
    chunk_ms: float
    modes: tuple[DecodingMode, ...]


def describe_model(loaded: LoadedModel, settings: StreamSettings) -> ModelDescription:
    """The model, and how this engine cuts its audio."""
    return ModelDescription(
        name=loaded.name,
        format=loaded.format,
        parameters=sum(parameter.numel() for parameter in loaded.model.parameters()),
        vocab_size=loaded.model.config.vocab_size,
        sample_rate_hz=settings.sample_rate_hz,
        chunk_ms=settings.chunking.chunk_size * settings.chunking.frame_ms,
        modes=DECODING_MODES,
    )
