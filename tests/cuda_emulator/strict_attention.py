"""torch's fused attention with what it asks of a GPU's tensors, asked of the emulated device's."""

from typing import Any

from torch import Tensor
from torch.nn import functional

ALIGNMENT_BYTES = 16

_attention = functional.scaled_dot_product_attention


def strict_attention(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
    """As torch's own. Raises RuntimeError, as on CUDA, for rows that are not aligned."""
    for name, tensor in {"query": query, "key": key, "value": value}.items():
        if tensor.device.type == "emulated" and not _is_aligned(tensor):
            raise RuntimeError(f"{name} is not correctly aligned, strides {tensor.stride()}")
    return _attention(query, key, value, **options)


def _is_aligned(tensor: Tensor) -> bool:
    """Whether each row begins at a multiple of the bytes; rows of other sizes go another way."""
    if tensor.size(-1) * tensor.itemsize % ALIGNMENT_BYTES:
        return True
    outer = zip(tensor.stride()[:-1], tensor.shape[:-1], strict=True)
    places = (tensor.storage_offset(), *(stride for stride, size in outer if size > 1))
    return all(place * tensor.itemsize % ALIGNMENT_BYTES == 0 for place in places)
