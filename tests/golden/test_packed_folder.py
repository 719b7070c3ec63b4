"""What is packed comes back as it was."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from kept_frames import frames_like, kept_frames
from packed_folder import LARGE_BYTES, pack, unpack

MOST_BYTES = 5_000_000


def test_files_come_back_to_the_byte_and_recordings_to_the_sample(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    source, packed, back = (tmp_path / name for name in ("source", "packed", "back"))
    (source / "model").mkdir(parents=True)
    large = random.normal(size=LARGE_BYTES).astype(np.float32).tobytes()
    (source / "model" / "final.pt").write_bytes(large)
    (source / "units.txt").write_text("<blank> 0\n")
    samples = random.integers(-32768, 32767, 1000, dtype=np.int16)
    soundfile.write(source / "said.wav", samples, 16_000)
    pack(source, packed)
    unpack(packed, back)
    names = {path.relative_to(packed).as_posix() for path in packed.rglob("*.*")}
    assert names == {"model/final.pt.xz", "units.txt", "said.flac"}
    assert (back / "model" / "final.pt").read_bytes() == large
    assert (back / "units.txt").read_text() == "<blank> 0\n"
    read, rate_hz = soundfile.read(back / "said.wav", dtype="int16")
    assert rate_hz == 16_000
    assert read.tolist() == samples.tolist()


@pytest.mark.parametrize(
    ("length", "frames"), [(0, []), (1, [0]), (14, [0, 13]), (28, [0, 13, 26, 27])]
)
def test_every_13th_frame_and_the_last_are_kept(length: int, frames: list[int]) -> None:
    assert kept_frames(torch.arange(length)[None], 1)[0].tolist() == frames


def test_frames_are_compared_whole_where_they_were_kept_whole() -> None:
    found = torch.arange(30)[None]
    assert frames_like(found, torch.zeros(1, 30)).shape == (1, 30)
    assert frames_like(found, torch.zeros(1, 4))[0].tolist() == [0, 13, 26, 29]


def test_the_golden_data_stays_small(repository_dir: Path) -> None:
    files = (repository_dir / "tests" / "golden").rglob("*.*")
    assert sum(path.stat().st_size for path in files if path.suffix != ".pyc") < MOST_BYTES
