"""Translates PTX, as nvcc writes it, to C++ that runs on a CPU.

`python tests/cuda_emulator/translate.py OUT.cpp IN.ptx…` writes OUT.IN.0.cpp and so on, with the
functions of each PTX file, and OUT.tables.cpp. Only what our kernels use; the rest is an error.
"""

import argparse
import sys
from pathlib import Path

from translator.cpp_files import translate_files
from translator.errors import TranslationError


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the stem of its name begins those of all files")
    parser.add_argument("sources", type=Path, nargs="+", metavar="IN.ptx")
    parser.add_argument("--pieces", type=int, default=2, help="C++ files for each PTX file")
    options = parser.parse_args()
    try:
        texts = translate_files(options.sources, options.pieces)
    except TranslationError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    for name, text in texts.items():
        path = options.out.with_suffix(f".{name}.cpp")
        if not path.exists() or path.read_text() != text:  # what is as it was stays compiled
            path.write_text(text)
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
