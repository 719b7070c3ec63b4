"""Servers shared by the tests of a module, and the audio that is sent to them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from server_process import Server, served

ReadAudio = Callable[[Path], bytes]


@pytest.fixture(scope="session")
def linear16() -> ReadAudio:
    """Read an audio file of 16 kHz as little-endian 16-bit samples."""

    def read(path: Path) -> bytes:
        samples, rate = soundfile.read(path, dtype="int16")
        assert rate == 16000
        return np.asarray(samples, dtype="<i2").tobytes()

    return read


@pytest.fixture(scope="session")
def golden_model_dir(golden_dir: Path) -> Path:
    """A WeNet model directory that transcribes the two golden wavs exactly, and nothing else."""
    return golden_dir / "u2pp_conformer"


@pytest.fixture(scope="module")
def golden_server(golden_model_dir: Path) -> Iterator[Server]:
    """A server of the golden model at its own chunk size."""
    with served("--model", str(golden_model_dir)) as server:
        yield server
