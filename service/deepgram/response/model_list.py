"""The model served, as results name it and as /v1/models lists it."""

from collections.abc import Sequence

from earshot.service.deepgram.response.wire import ModelInfo
from earshot.service.served_model import ServedModel


def model_info(model: ServedModel) -> ModelInfo:
    """The model as results name it."""
    return ModelInfo(name=model.name, version=model.version, arch=model.arch)


def listing(model: ServedModel, aliases: Sequence[str]) -> dict[str, object]:
    """The model as an entry of the list."""
    return {
        "name": model.name,
        "canonical_name": model.name,
        "aliases": list(aliases),
        "architecture": model.arch,
        "version": model.version,
        "uuid": model.uuid,
        "batch": True,
        "streaming": True,
        "languages": list(model.languages),
        **model.details,
    }
