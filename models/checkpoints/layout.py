"""Networks with shapes but neither memory nor values, for weights that a file is about to bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


@contextmanager
def without_memory() -> Iterator[None]:
    """Modules built inside take no memory: a configuration alone can never make us allocate."""
    with torch.device("meta"), _WithoutValues():
        yield


class _WithoutValues(TorchFunctionMode):
    """Skips initialisers.

    There is nothing to fill, and filling meta tensors with random numbers would import all of
    torch's compiler (2.5 s, 70 MB).
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)
