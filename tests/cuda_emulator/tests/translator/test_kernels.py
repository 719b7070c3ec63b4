"""CUDA sources that nvcc compiles and we translate, against the same sources compiled by g++."""

import ctypes
import random
import struct
import subprocess
from pathlib import Path

import pytest
from one_thread import OneThread, nvcc_ptx

pytestmark = pytest.mark.nvcc

HERE = Path(__file__).parent
ARCHITECTURES = ("compute_80", "compute_90", "compute_100")
FUNCTIONS = (
    "integer_mixture", "double_mixture", "struct_copies", "loops", "chosen", "local_arrays",
    "calls", "wide_products", "bit_operations", "floats", "tables", "narrow", "divisions",
)  # fmt: skip
WORDS = 8  # of 64 bits, given to a function and made by it
ROUNDS = 60


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("host") / "functions.so"
    options = "-std=c++20 -O1 -fwrapv -fPIC -shared -ffp-contract=off -fno-strict-aliasing -x c++"
    source = HERE / "translated_functions.cu"
    subprocess.run(["g++", *options.split(), source, "-o", library], check=True, timeout=250)
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module", params=ARCHITECTURES)
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OneThread:
    folder = tmp_path_factory.mktemp("device")
    source = folder / "functions.cu"
    source.write_text((HERE / "translated_functions.cu").read_text())
    return OneThread(folder, nvcc_ptx(source, f"-arch={request.param}"))


def words(chance: random.Random) -> bytes:
    """Large, small, negative, and numbers of both kinds with few bits."""
    edges = (0, 1, 2, 31, 32, 63, 64, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
    values = []
    for _ in range(WORDS):
        kind = chance.randrange(4)
        if kind == 0:
            values.append(chance.choice(edges))
        elif kind == 1:
            values.append(chance.getrandbits(64))
        elif kind == 2:
            values.append(chance.getrandbits(chance.randrange(1, 64)))
        else:
            values.append(struct.unpack("<Q", struct.pack("<d", chance.gauss(0, 1e3)))[0])
    return struct.pack(f"<{WORDS}Q", *values)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_what_it_gives_on_the_host(
    device: OneThread, host: ctypes.CDLL, name: str
) -> None:
    chance = random.Random(name)
    for _ in range(ROUNDS):
        given = words(chance)
        wanted = ctypes.create_string_buffer(8 * WORDS)
        getattr(host, f"host_{name}")(given, wanted)
        found = device.transform(name, given, 8 * WORDS)
        assert found.hex(" ", 8) == wanted.raw.hex(" ", 8), given.hex(" ", 8)


BIT_WIDTH = """
#include <bit>
#include <cstdint>
extern "C" __global__ void bit_width(const std::uint64_t* from, std::uint64_t* to) {
  *to = static_cast<std::uint64_t>(std::bit_width(*from));
}
"""


def nvcc_version() -> str:
    ended = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True)
    return ended.stdout


def test_what_nvcc_gets_wrong_is_wrong_here_too(tmp_path: Path) -> None:
    """Nvcc 13.0.88 makes 0 of std::bit_width of 64 bits under --expt-relaxed-constexpr.

    Only running what nvcc made can show such a thing: the source is right.
    """
    if "V13.0.88" not in nvcc_version():
        pytest.skip("this nvcc is another one")
    source = tmp_path / "bit_width.cu"
    source.write_text(BIT_WIDTH)
    device = OneThread(tmp_path, nvcc_ptx(source))
    given = struct.pack("<Q", 1 << 40)
    assert device.transform("bit_width", given, 8) == struct.pack("<Q", 0)
