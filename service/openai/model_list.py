"""The models that may be asked for, as OpenAI's SDKs read a list of models."""

from collections.abc import Iterable

OWNER = "earshot"


def model_object(name: str) -> dict[str, object]:
    """A model by one of its names. Nobody says when it was made: the SDKs want a number."""
    return {"id": name, "object": "model", "created": 0, "owned_by": OWNER}


def model_list(names: Iterable[str]) -> dict[str, object]:
    """All of them."""
    return {"object": "list", "data": [model_object(name) for name in names]}
