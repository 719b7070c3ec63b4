"""A folder of golden data as it lies in the repository: what is large is packed, without loss.

Recordings are FLAC, other large files xz. Their numbers are float32: a context of the place in four
bytes packs them a tenth better, and any xz unpacks it.
"""

import lzma
import shutil
from pathlib import Path

import soundfile

LARGE_BYTES = 16_384
FLOAT32 = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 1, "lp": 2, "pb": 2}]


def pack(source: Path, target: Path) -> None:
    """Write the files of the folder ``source`` to ``target``, large ones packed."""
    for path in filter(Path.is_file, source.rglob("*")):
        packed = target / path.relative_to(source)
        packed.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".wav":
            soundfile.write(packed.with_suffix(".flac"), *soundfile.read(path, dtype="int16"))
        elif path.stat().st_size > LARGE_BYTES:
            content = lzma.compress(path.read_bytes(), filters=FLOAT32)
            packed.with_name(f"{path.name}.xz").write_bytes(content)
        else:
            shutil.copyfile(path, packed)


def unpack(source: Path, target: Path) -> None:
    """Write to ``target`` what was packed into the folder ``source``."""
    for packed in filter(Path.is_file, source.rglob("*")):
        path = target / packed.relative_to(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        if packed.suffix == ".flac":
            soundfile.write(path.with_suffix(".wav"), *soundfile.read(packed, dtype="int16"))
        elif packed.suffix == ".xz":
            path.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
        else:
            shutil.copyfile(packed, path)
