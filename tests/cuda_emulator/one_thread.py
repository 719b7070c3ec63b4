"""Translated kernels on a machine of one thread, called from Python."""

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from translator.cpp_files import translate_files

HERE = Path(__file__).parent
STRONG = ("relaxed", "acquire", "release", "acq_rel")
ORDERS = ("weak", *STRONG, *(f"{order}.cta" for order in STRONG))
WHAT = ("barrier", "fence", "read", "write", "update", "trap", "condition")
EVENTS = {what[0]: what for what in WHAT}  # of a condition `at` is its handle, `bytes` the value
# As our kernels are compiled.
NVCC = "-std=c++20 --fmad=false --expt-relaxed-constexpr -O3 -DNDEBUG -arch=compute_90 -lineinfo"
GCC = ["g++", "-std=c++20", "-O0", "-fPIC", "-ffp-contract=off", "-w"]


class _Event(ctypes.Structure):
    _fields_ = (
        ("what", ctypes.c_char),
        ("at", ctypes.c_uint64),
        ("bytes", ctypes.c_uint32),
        ("order", ctypes.c_uint32),
        ("site", ctypes.c_int),
    )


class _Site(ctypes.Structure):
    _fields_ = (("file", ctypes.c_char_p), ("line", ctypes.c_int))


class _CodeBlock(ctypes.Structure):
    _fields_ = (("count", ctypes.c_int * 3), ("site", _Site))


@dataclass(frozen=True)
class Event:
    """What a kernel told the machine."""

    what: str
    at: int
    bytes: int
    order: str
    place: str  # file:line


class OneThread:
    """The kernels of some PTX texts, each to be run by one thread."""

    def __init__(self, folder: Path, *ptx: str) -> None:
        sources = []
        for number, text in enumerate(ptx):
            sources.append(folder / f"source{number}.ptx")
            sources[-1].write_text(text)
        for name, text in translate_files(sources, 1).items():
            (folder / f"{name}.cpp").write_text(text)
        library = folder / "kernels.so"
        inputs = [*folder.glob("*.cpp"), HERE / "translator" / "one_thread.cpp"]
        command: list[str | Path] = [*GCC, "-shared", f"-I{HERE}", "-o", library, *inputs]
        subprocess.run(command, check=True, timeout=250)
        self._library = ctypes.CDLL(str(library))
        self._library.events_begin.restype = ctypes.POINTER(_Event)
        self._library.site.restype = ctypes.POINTER(_Site)
        self._library.code_block_table.restype = ctypes.POINTER(_CodeBlock)
        self._executed = (ctypes.c_uint32 * (self._library.code_block_count() + 1))()
        self.shared = (ctypes.c_uint8 * 4096)()

    def launch(self, kernel: str, param: bytes) -> None:
        """Runs a kernel with the bytes of its parameters."""
        ctypes.memset(self._executed, 0, ctypes.sizeof(self._executed))
        argument = ctypes.create_string_buffer(param, len(param) + 1)
        found = self._library.launch(kernel.encode(), argument, self.shared, self._executed)
        assert found, f"no kernel {kernel}"

    def transform(self, kernel: str, given: bytes, size: int) -> bytes:
        """What a kernel writes to its second pointer where it finds `given` at the first."""
        source = ctypes.create_string_buffer(given, len(given) + 16)
        target = ctypes.create_string_buffer(size + 16)
        places = (ctypes.addressof(buffer) for buffer in (source, target))
        self.launch(kernel, b"".join(place.to_bytes(8, "little") for place in places))
        return target.raw[:size]

    def events(self) -> list[Event]:
        """Of the last launch."""
        begin = self._library.events_begin()
        return [self._event(begin[i]) for i in range(self._library.events_count())]

    def executed(self) -> list[int]:
        """Instructions of the last launch: ALU, double, local."""
        table = self._library.code_block_table()
        blocks = range(self._library.code_block_count())
        return [sum(self._executed[i] * table[i].count[kind] for i in blocks) for kind in range(3)]

    def _event(self, event: _Event) -> Event:
        place = ""
        if event.site >= 0:
            site = self._library.site(event.site).contents
            place = f"{site.file.decode()}:{site.line}"
        what = EVENTS[event.what.decode()]
        return Event(what, event.at, event.bytes, ORDERS[event.order], place)


def nvcc_ptx(source: Path, *options: str) -> str:
    """PTX of a CUDA source."""
    target = source.with_suffix(".ptx")
    command: Sequence[str | Path] = ["nvcc", *NVCC.split(), *options, "-ptx", source, "-o", target]
    subprocess.run(command, check=True, timeout=250)
    return target.read_text()
