"""For all tests: the devices that are here, where data lies, how many threads torch may use."""

import functools
import gc
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    import torch
    from emulator import Emulator
    from nemo_golden import GoldenReader

# Set before any test module imports torch: a step of a tiny model is slower on two threads than on
# one, and sums over one thread are the same on every machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is no failure. Everyone draws the same examples, so that a test turns red by the
# change that is tested; `make fresh` draws new ones. After a change of a search: `thousands`.
settings.register_profile("same", deadline=None, derandomize=True)
NEW = settings(deadline=None, derandomize=False)
settings.register_profile("fresh", NEW, max_examples=500, print_blob=True)
settings.register_profile("thousands", NEW, max_examples=3000)
settings.load_profile("same")

# Of a tensor's largest value. Each kind of processor (AVX-512, AVX2, SSE) adds in another order:
# golden values move by up to 1.2e-6, 10 times float32's epsilon. The smallest mistake that must not
# pass, one norm's eps of 1e-12 instead of 1e-5, moves them by 4.8e-6.
ROUNDING = 3e-6

REPOSITORY = Path(__file__).resolve().parent.parent
ABSENT = {
    "gpu": "CUDA device: none here",
    "emulator": "emulated GPU: not built (make cuda-test)",
    "nvcc": "nvcc: not installed",
}


@functools.cache
def absent() -> set[str]:
    """What is not here, by the mark or fixture of the tests that need it. CI needs nvcc."""
    import torch

    here = {
        "gpu": torch.cuda.is_available(),
        "emulator": "EARSHOT_EMULATOR" in os.environ,
        "nvcc": "CI" in os.environ or shutil.which("nvcc") is not None,
    }
    return {name for name, is_here in here.items() if not is_here}


def pytest_report_header() -> list[str]:
    """A line for each device that is not here."""
    return [f"{ABSENT[name]}; its tests are not collected" for name in sorted(absent())]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a device that is not here: on most machines none ever will be."""
    kept, left_out = [], []
    for item in items:
        needs = {mark.name for mark in item.iter_markers()} | {*getattr(item, "fixturenames", ())}
        (left_out if needs & absent() else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of the garbage collector's passes.

    Thousands of tests and their modules live to the end, and each pass would walk them again.
    """
    gc.collect()
    gc.freeze()


def existing(path: Path) -> Path:
    """Return ``path``; skip the test that asked for it, with the reason, where it is missing."""
    if not path.exists():
        pytest.skip(f"shared data is missing: {path} (set EARSHOT_SHARED to where it lies)")
    return path


@pytest.fixture(scope="session")
def repository_dir() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Data too large for the repository: ``$EARSHOT_SHARED`` or ``../shared``."""
    return existing(Path(os.environ.get("EARSHOT_SHARED", REPOSITORY.parent / "shared")))


@pytest.fixture(scope="session")
def golden_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs of the real WeNet code, with the models and the two wavs they were made from.

    Some frames of them: ``tests/golden/README.md``.
    """
    from packed_folder import unpack

    folder = tmp_path_factory.mktemp("golden")
    unpack(REPOSITORY / "tests" / "golden" / "wenet", folder)
    return folder


@pytest.fixture(scope="session")
def whole_golden_dir(shared_dir: Path) -> Path:
    """The same with all frames."""
    return existing(shared_dir / "golden" / "wenet")


@pytest.fixture(scope="session")
def nemo_golden_dir(shared_dir: Path) -> Path:
    """Outputs of the real NeMo code, with the models they were made from."""
    return existing(shared_dir / "golden" / "nemo")


@pytest.fixture(scope="session")
def nemo_golden(nemo_golden_dir: Path) -> "GoldenReader":
    """Models of the real NeMo by name, and what it made of four clips."""
    from nemo_golden import read_nemo_golden

    return functools.partial(read_nemo_golden, nemo_golden_dir)


@pytest.fixture(scope="session")
def assert_same() -> Callable[..., None]:
    """Fail where two arrays differ by more than rounding, as their largest value bounds it."""

    def check(found: npt.ArrayLike, expected: npt.ArrayLike, rtol: float = ROUNDING) -> None:
        ours, theirs = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        assert ours.shape == theirs.shape
        assert np.isfinite(theirs).all()
        error, largest = np.abs(ours - theirs), np.abs(theirs).max(initial=0.0)
        worst = error.max(initial=0.0)
        assert worst <= rtol * largest, f"{worst:.3g} apart, of values up to {largest:.3g}"

    return check


@pytest.fixture(scope="session")
def clips_manifest() -> Path:
    """Eight sentences of four readers of books."""
    return REPOSITORY / "tests" / "golden" / "speech" / "dev.tsv"


@pytest.fixture(scope="session")
def speech_dir(shared_dir: Path) -> Path:
    """Hours of transcribed English: ``train.tsv``, ``dev.tsv`` and ``audio/``."""
    return existing(shared_dir / "speech")


@pytest.fixture(scope="session")
def fake_sounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the fake engines play: a header of WAV, a tone that slowly rises, a clipped one."""
    folder = tmp_path_factory.mktemp("engines") / "sounds"
    folder.mkdir()
    time_s = np.arange(30 * 16_000) / 16_000
    tone = np.sin(2 * np.pi * (150 + 0.3 * time_s) * time_s)
    (folder / "speech").write_bytes((8000 * tone).astype("<i2").tobytes())
    (folder / "clipped").write_bytes((32767 * np.sign(tone)).astype("<i2").tobytes())
    # As programs write it that do not know how much will come.
    endless = 0x7FFFF000
    chunk = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 16_000, 32_000, 2, 16)
    riff = struct.pack("<4sI4s", b"RIFF", endless, b"WAVE")
    (folder / "header").write_bytes(riff + chunk + struct.pack("<4sI", b"data", endless))
    return folder


@pytest.fixture
def fake_engines(fake_sounds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """espeak-ng and flite, and no other program, by ``tests/fake_engine.sh``."""
    # A wheel, which is tested too, has no training.
    from earshot.training.synthetic.engines import ESPEAK_VARIANTS

    programs = fake_sounds.parent / tmp_path.name
    programs.mkdir()
    for name in ("espeak-ng", "flite"):
        shutil.copy(REPOSITORY / "tests" / "fake_engine.sh", programs / name)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("FAKE_ENGINE_VARIANTS", " ".join(f"!v/{name}" for name in ESPEAK_VARIANTS))
    return programs


@pytest.fixture(scope="session")
def emulated() -> "Iterator[torch.device]":
    """The emulated GPU, a device of torch.

    Its kernels are nvcc's where the machine for them was built (make cuda-test), else those of the
    CPU, on its memory.
    """
    import device_library
    import emulated_device
    from emulator import built
    from stand_in_half import stand_in_half
    from strict_attention import strict_attention
    from torch.nn import functional

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functional, "scaled_dot_product_attention", strict_attention)
        if (emulator := built()) is not None:
            emulator.restart()
            yield emulator.device
            return

        from earshot.decoder_kernels.native import kernels

        device_library.build()
        device = emulated_device.register(device_library.LIBRARY, device_library.DEVICE_MEMORY)
        patch.setattr(kernels, device.type, stand_in_half(), raising=False)
        yield device


@pytest.fixture
def emulator(emulated: "torch.device") -> "Emulator":
    """The emulated GPU with nvcc's kernels. Where it was not built, its tests are not collected."""
    from emulator import built

    found = built()
    assert found is not None
    assert found.device == emulated
    return found
