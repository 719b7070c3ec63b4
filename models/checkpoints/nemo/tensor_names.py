"""Tensors of a NeMo model by the names that our network has for them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor

from earshot.models.errors import UnknownKeys

# Tensors that no forward pass reads, or that we compute: augmentation, losses, metrics (which a
# joint may hold too) and, before they were left out, positional tables.
DEAD_TENSORS = re.compile(
    r"(spec_augmentation|(ctc_)?(loss|wer)|joint\._(loss|wer))\..+"
    r"|encoder\.pos_enc\.pe"
)
PLACES = (
    (re.compile(r"preprocessor\.featurizer\.(window)"), r"features.\1"),
    (re.compile(r"preprocessor\.featurizer\.fb"), "features.filters"),
    (re.compile(r"(encoder\..+)"), r"\1"),
    (re.compile(r"decoder\.prediction\.(embed\..+)"), r"transducer.predictor.\1"),
    (re.compile(r"decoder\.prediction\.dec_rnn\.(lstm\..+)"), r"transducer.predictor.\1"),
    (re.compile(r"joint\.enc\.(.+)"), r"transducer.joint.encoder.\1"),
    (re.compile(r"joint\.pred\.(.+)"), r"transducer.joint.predictor.\1"),
    # After the activation, and after dropout where there is some.
    (re.compile(r"joint\.joint_net\.[12]\.(weight|bias)"), r"transducer.joint.output.\1"),
    (re.compile(r"(?:ctc_)?decoder\.decoder_layers\.0\.(weight|bias)"), r"ctc.output.\1"),
    (re.compile(r"prompt_kernel\.([02]\..+)"), r"prompt.\1"),
)


def rename_tensors(found: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that some forward pass reads, in our shapes.

    Raises UnknownKeys for those without a place, or whose place is taken.
    """
    named: dict[str, Tensor] = {}
    homeless = []
    for name, tensor in found.items():
        if DEAD_TENSORS.fullmatch(name):
            continue
        place = _place(name)
        if place is None or place in named:
            homeless.append(name)
        else:
            named[place] = _in_our_shape(place, tensor)
    if homeless:
        raise UnknownKeys(homeless)
    return named


def _place(name: str) -> str | None:
    for pattern, place in PLACES:
        if match := pattern.fullmatch(name):
            return match.expand(place)
    return None


def _in_our_shape(place: str, tensor: Tensor) -> Tensor:
    """Filters as a matrix to multiply by, and a convolution of one frame as the map that it is."""
    if place == "features.filters" and tensor.dim() == 3 and tensor.size(0) == 1:
        return tensor[0].T
    if place == "ctc.output.weight" and tensor.dim() == 3 and tensor.size(2) == 1:
        return tensor[:, :, 0]
    return tensor
