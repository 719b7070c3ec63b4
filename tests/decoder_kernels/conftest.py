"""Fixtures for the kernels: the devices they run on, and posteriors to search."""

import pytest
import torch

from decoder_kernels.errors import BackendMissing
from decoder_kernels.native import native_half


def require_half(name: str) -> torch.device:
    """The device, or a skipped test where it or its half of the kernels is missing."""
    device = torch.device(name)
    if name == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    try:
        native_half(device)
    except BackendMissing as error:
        pytest.skip(str(error))
    return device


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> torch.device:
    """Each device in turn; the same tests hold on both."""
    return require_half(request.param)
