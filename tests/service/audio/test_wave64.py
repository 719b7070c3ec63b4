"""Wave64 files whose lengths are wrong."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.service.audio.file_reader import AudioFile
from earshot.service.errors import UndecodableAudio

RATE_HZ, SECONDS = 16_000, 3


def write_wave64(path: Path) -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, RATE_HZ * SECONDS)
    soundfile.write(path, samples, RATE_HZ, format="W64", subtype="PCM_16")


@pytest.mark.parametrize("size", [1 << 61, (1 << 62) - 1, 1 << 40])
def test_a_wave64_chunk_that_ends_beyond_all_disks_is_refused_or_passed_over(tmp_path, size):
    path = tmp_path / "file"
    write_wave64(path)
    content = bytearray(path.read_bytes())
    content[40 + 16 : 40 + 24] = size.to_bytes(8, "little")  # of the chunk behind the header
    path.write_bytes(content)
    with pytest.raises(UndecodableAudio):
        list(AudioFile(path, RATE_HZ).blocks())


def test_a_wave64_file_that_calls_itself_longer_than_all_disks_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "file"
    write_wave64(path)
    content = bytearray(path.read_bytes())
    content[16:24] = ((1 << 62) - 1).to_bytes(8, "little")
    path.write_bytes(content)
    heard = sum(map(len, AudioFile(path, RATE_HZ).blocks()))
    assert heard == pytest.approx(RATE_HZ * SECONDS, abs=2)


def test_a_wave64_file_that_says_no_length_of_its_own_is_not_another_recording(tmp_path):
    path = tmp_path / "file"
    write_wave64(path)
    content = bytearray(path.read_bytes())
    content[16:24] = bytes(8)
    path.write_bytes(content)
    heard = sum(map(len, AudioFile(path, RATE_HZ).blocks()))
    assert heard == pytest.approx(RATE_HZ * SECONDS, abs=2)
