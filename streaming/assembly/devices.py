"""The device that somebody asks for."""

from typing import Literal, TypeAlias

import torch

from earshot.decoder_kernels.native import has_half
from earshot.streaming.errors import InvalidEngineConfig

DeviceChoice: TypeAlias = Literal["auto", "cpu", "cuda"]


def device_of(choice: DeviceChoice) -> torch.device:
    """The device; "auto" takes a GPU where torch and the kernels know one.

    Raises InvalidEngineConfig for a GPU that is not there.
    """
    if choice == "auto":
        can = torch.cuda.is_available() and has_half("cuda")
        return torch.device("cuda" if can else "cpu")
    if choice == "cuda" and not torch.cuda.is_available():
        raise InvalidEngineConfig("device cuda: torch finds no CUDA device")
    return torch.device(choice)
