"""Claim: where nobody speaks no word is written: in ten minutes of silence, hush, noise, or music.

Each kind goes through one stream in the model's live chunks, as from a microphone, with all
defaults. Silence is zeros, hush white noise at -60 dB, noise what is collected of it in the
order of its list (animals, rain, engines, clocks, household), music the files that are given.
Words of finals and the longest partial are counted.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.report import SHARED, below_claim, table, write_report
from earshot.service.audio.file_reader import AudioFile
from earshot.service.library.transcriber import Transcriber
from earshot.training.corpus.manifest import read_noise

Samples = npt.NDArray[np.float32]
MINUTES = 10
BLOCK_S = 0.1
HUSH = 1e-3


def ten_minutes(pieces: Iterator[Samples], rate_hz: int) -> Iterator[Samples]:
    """Sound, cut off after ten minutes, in blocks of a microphone's length."""
    block, left = int(BLOCK_S * rate_hz), MINUTES * 60 * rate_hz
    for piece in pieces:
        some = piece[:left]
        left -= len(some)
        yield from (some[start : start + block] for start in range(0, len(some), block))
        if not left:
            return
    raise SystemExit(f"{left / rate_hz:.0f} s too little to listen to")


def silence(rate_hz: int) -> Iterator[Samples]:
    """Zeros without end."""
    while True:
        yield np.zeros(rate_hz, np.float32)


def hush(rate_hz: int) -> Iterator[Samples]:
    """White noise at -60 dB without end."""
    rng = np.random.default_rng(1)
    while True:
        yield (HUSH * rng.standard_normal(rate_hz)).astype(np.float32)


def files(paths: list[Path], rate_hz: int) -> Iterator[Samples]:
    """Recordings one after the other, their channels mixed."""
    for path in paths:
        yield from AudioFile(path, rate_hz).blocks()


def heard(transcriber: Transcriber, pieces: Iterator[Samples]) -> list[str]:
    """Words written in finals, words of the longest partial, and the first few of them."""
    rate_hz = transcriber.sample_rate_hz
    finals, longest = list[str](), list[str]()
    for utterance in transcriber.stream(ten_minutes(pieces, rate_hz), rate_hz):
        words = [word.text for word in utterance.words]
        if utterance.is_final:
            finals += words
        elif len(words) > len(longest):
            longest = words
    return [str(len(finals)), str(len(longest)), " ".join(finals[:10] or longest[:10])]


def main() -> None:
    """Run it; write docs/benchmarks/nothing_said.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("music", nargs="+", type=Path, help="files, ten minutes of them")
    music: list[Path] = parser.parse_args().music
    noise = [each.path for each in read_noise(SHARED / "noise" / "noise.tsv")]
    kinds: dict[str, Callable[[int], Iterator[Samples]]] = {
        "silence": silence,
        "hush": hush,
        "noise": lambda rate_hz: files(noise, rate_hz),
        "music": lambda rate_hz: files(music, rate_hz),
    }
    with Transcriber(threads=1) as transcriber:
        rows = [
            [kind, *heard(transcriber, sound(transcriber.sample_rate_hz))]
            for kind, sound in kinds.items()
        ]
    header = ["ten minutes of", "words in finals", "words of the longest partial", "the first"]
    named = ", ".join(f"`{path.name}`" for path in music)
    body = "\n\n".join(
        [
            below_claim(__doc__),
            f"Music: {named}.",
            table(header, rows),
        ]
    )
    print(write_report("nothing_said", "Where nobody speaks", body))


if __name__ == "__main__":
    main()
