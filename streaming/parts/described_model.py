"""A model of any family as its engine describes it, with the parts beside it."""

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.stream.active_stream import StreamSettings


def described_model(
    loaded: LoadedModel,
    settings: StreamSettings,
    parts: ModelParts,
    modes: tuple[str, ...],
    heads: tuple[str, ...],
) -> ModelDescription:
    """The model, how its audio is cut, and its parts; what its family knows besides is open."""
    return ModelDescription(
        name=loaded.name,
        format=loaded.format,
        parameters=sum(parameter.numel() for parameter in loaded.model.parameters()),
        vocab_size=loaded.tokenizer.vocab_size,
        sample_rate_hz=settings.sample_rate_hz,
        chunk_ms=settings.chunking.chunk_ms,
        chunks_ms=settings.chunks_ms,
        modes=modes,
        parts=parts.descriptions(),
        languages=loaded.languages,
        weights=loaded.weights,
        heads=heads,
    )
