"""Images that are damaged, cut off or forged: named errors, or wrong numbers, and nothing else."""

import contextlib
import struct
import zlib
from pathlib import Path
from random import Random

import numpy as np
import pytest
from backoff_oracle import crowded_model, random_model

from earshot.decoder_kernels.errors import LmImageError
from earshot.decoder_kernels.lm.lm_header import _FIELDS, HEADER_BYTES
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    pack_arpa(random_model(12, 4).write(folder), folder / "model.lm")
    return (folder / "model.lm").read_bytes()


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("crowded")
    pack_arpa(crowded_model(1, 3).write(folder), folder / "model.lm")
    return (folder / "model.lm").read_bytes()


def opened(folder: Path, content: bytes) -> LmImage:
    path = folder / "bad.lm"
    path.write_bytes(content)
    return LmImage(path)


def with_field(content: bytes, at: int, value: int) -> bytes:
    """A header in which one number of 64 bits is another; its checksum is right."""
    header = bytearray(content[: _FIELDS.size])
    struct.pack_into("<Q", header, at, value)
    struct.pack_into("<I", header, _FIELDS.size - 4, zlib.crc32(header[:-4]))
    return bytes(header) + content[_FIELDS.size :]


def use(image: LmImage) -> None:
    """All that leads into an image, with numbers that it should not be asked for too."""
    numbers = np.array([0, 1, 2, 5, 7, 1 << 20, (1 << 24) - 1, (1 << 32) - 1], np.uint32)
    states = np.append(np.arange(min(image.header.states + 2, 500)), [1 << 31, (1 << 32) - 1])
    for state in states.astype(np.uint32):
        image.look_up(np.full(len(numbers), state), numbers)
        image.back_off(int(state))
    image.find_words(["w1", "", "nowhere"])
    for word in numbers.tolist():
        with contextlib.suppress(LmImageError):
            image.text_of(word)


def test_a_whole_image_passes_its_check(tmp_path: Path, good: bytes) -> None:
    opened(tmp_path, good).check()


def test_any_byte_that_has_changed_is_found(tmp_path: Path, good: bytes) -> None:
    for at in Random(1).sample(range(len(good)), 200):
        damaged = bytearray(good)
        damaged[at] ^= 1 << at % 8
        if at in range(_FIELDS.size, HEADER_BYTES):
            continue  # nothing reads it
        with pytest.raises(LmImageError, match=r"damaged|no image|version"):
            opened(tmp_path, bytes(damaged)).check()


@pytest.mark.parametrize("length", [0, 1, 7, 100, 4095, 4096, 5000, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, good: bytes, length: int) -> None:
    with pytest.raises(LmImageError, match=r"is empty|no image|where .* should be"):
        opened(tmp_path, good[:length])


def test_a_file_that_has_grown_is_refused(tmp_path: Path, good: bytes) -> None:
    with pytest.raises(LmImageError, match=r"where .* should be"):
        opened(tmp_path, good + b"\0")


def test_another_version_is_named(tmp_path: Path, good: bytes) -> None:
    with pytest.raises(LmImageError, match="of version 9; this is version 2: pack it again"):
        opened(tmp_path, good[:8] + b"\x09" + good[9:])


def test_no_file_and_no_image_are_named(tmp_path: Path) -> None:
    with pytest.raises(LmImageError, match="cannot be read: No such file"):
        LmImage(tmp_path / "nowhere.lm")
    with pytest.raises(LmImageError, match="cannot be read: Is a directory"):
        LmImage(tmp_path)
    with pytest.raises(LmImageError, match="no image"):
        opened(tmp_path, b"\\data\\" * 1000)


@pytest.mark.parametrize("value", [1 << 32, 1 << 40, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("field", range(11))
def test_counts_that_lie_are_refused(tmp_path: Path, good: bytes, field: int, value: int) -> None:
    at = 16 + 8 * field  # the file's size, then all counts but holes
    with pytest.raises(LmImageError, match="contradict"):
        opened(tmp_path, with_field(good, at, value))


@pytest.mark.parametrize("value", [0, 1, 2, 3, 50, 100, 500])
@pytest.mark.parametrize("field", range(12))
def test_counts_that_fit_the_file_lead_nowhere_else(
    tmp_path: Path, good: bytes, field: int, value: int
) -> None:
    try:
        image = opened(tmp_path, with_field(good, 16 + 8 * field, value))
    except LmImageError:
        return
    use(image)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_pages_lead_nowhere(tmp_path: Path, good: bytes, crowded: bytes, seed: int) -> None:
    """Also states whose suffixes go in circles, and children of other states."""
    draw = Random(seed)
    whole = draw.choice([good, crowded])
    damaged = bytearray(whole)
    for _ in range(draw.choice([1, 10, 1000])):
        at = draw.randrange(HEADER_BYTES, len(whole) - 4)
        value = draw.choice([0, 1, draw.randrange(256), 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
        damaged[at : at + 4] = struct.pack("<I", value)
    use(opened(tmp_path, bytes(damaged)))


@pytest.mark.parametrize("byte", [0x00, 0x01, 0x7F, 0x80, 0xFF])
def test_pages_of_one_byte_lead_nowhere(tmp_path: Path, good: bytes, byte: int) -> None:
    use(opened(tmp_path, good[:HEADER_BYTES] + bytes([byte]) * (len(good) - HEADER_BYTES)))
