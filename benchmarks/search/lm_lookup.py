"""Claim: an image says of every word what KenLM says, to a step of its costs.

A million queries over an ARPA file's own n-grams of all orders, in part with other words in them,
unknown ones too, and as many over random models of orders 2 to 5 with holes, gains as back-offs and
missing ``<unk>``. KenLM is no part of Earshot: ``--kenlm`` names a Python that has it
(``pip install ufal-kenlm``).
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

from benchmarks.report import processor_name, resident_mb, table, write_report
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, NO_WORD, ROOT, LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa

ELSEWHERE = "elsewhere-of-no-model"
Query = Sequence[str]
Floats = npt.NDArray[np.float64]


def ngrams_of(arpa: Path, share: float, draw: Random) -> Iterator[list[str]]:
    """Some of a file's n-grams."""
    order = 0
    with arpa.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("\\"):
                order = int(line[1:].split("-")[0]) if line.endswith("-grams:\n") else 0
            elif order and line.strip() and draw.random() < share:
                yield line.split()[1 : order + 1]


def queries_of(arpa: Path, count: int, seed: int = 1) -> list[Query]:
    """Queries made of a file's n-grams: as they are, with another word, one behind the other."""
    draw = Random(seed)
    total = sum(1 for _ in ngrams_of(arpa, 1.0, draw))
    found = list(ngrams_of(arpa, min(1.0, 2.0 * count / total), draw))
    words = [each[0] for each in found if len(each) == 1] or [found[0][0]]
    made: list[Query] = []
    while len(made) < count:
        query = list(draw.choice(found))
        if draw.random() < 0.3:
            query += draw.choice(found)
        if draw.random() < 0.5:
            query[draw.randrange(len(query))] = draw.choice([*draw.choices(words, k=9), ELSEWHERE])
        made.append(query)
    return made


def costs_by_kenlm(python: Path, arpa: Path, queries: Sequence[Query], folder: Path) -> Floats:
    """What KenLM says, in nats."""
    asked, told = folder / "queries.txt", folder / "costs"
    asked.write_text("".join(" ".join(query) + "\n" for query in queries), encoding="utf-8")
    script = Path(__file__).with_name("kenlm_costs.py")
    command = [str(python), str(script), str(arpa), str(asked), str(told)]
    subprocess.run(command, check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    return np.frombuffer(told.read_bytes(), np.float64)


def costs_by_image(
    image: LmImage, queries: Sequence[Query]
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Costs in nats, whether a word is known, and the states and words of the last lookups."""
    numbers = dict.fromkeys((word for query in queries for word in query), 0)
    for word, number in zip(numbers, image.find_words(numbers).tolist(), strict=True):
        numbers[word] = number
    longest = max(map(len, queries))
    columns = np.full((longest, len(queries)), NO_WORD, np.uint32)
    lengths = np.array([len(query) for query in queries])
    for i, query in enumerate(queries):
        columns[longest - len(query) :, i] = [numbers[word] for word in query]
    states = np.full(len(queries), ROOT, np.uint32)
    for place in range(longest - 1):
        _, after = image.look_up(states, columns[place])
        states = np.where(lengths >= longest - place, after, states)
    costs, _ = image.look_up(states, columns[-1])
    return costs / COST_STEPS, columns[-1] != NO_WORD, states, columns[-1]


def compared(image: LmImage, kenlm: Floats, queries: Sequence[Query]) -> tuple[int, float, float]:
    """How many were compared, and the largest and the mean difference, in steps.

    A word that the image can only say roughly, and an unknown word of a model that has none, are
    left out: KenLM makes a number of its own up for it.
    """
    costs, known, _, _ = costs_by_image(image, queries)
    has_unknown = bool((image.find_words(["<unk>", "<UNK>"]) != NO_WORD).any())
    told = (costs < 63) & (known | has_unknown)
    off = np.abs(costs - kenlm)[told] * COST_STEPS
    return int(told.sum()), float(off.max()), float(off.mean())


def random_arpa(seed: int, order: int) -> str:
    """A model some of whose n-grams lack the shorter one that they end with.

    KenLM reads no more than a few such, and no model that lacks what an n-gram begins with. Nor can
    it say more than a probability of 1, which gains may add up to: there are none that large.
    """
    draw = Random(seed)
    words = [f"w{i}" for i in range(60)] + ["<s>", "</s>", *(["<unk>"] if seed % 3 else [])]
    levels: list[dict[tuple[str, ...], None]] = [dict.fromkeys((word,) for word in words)]
    while len(levels) < order:
        contexts = list(levels[-1])
        longer = [(*draw.choice(contexts), draw.choice(words)) for _ in range(20_000)]
        kept = [each for each in longer if each[1:] in levels[-1] or draw.random() < 0.004]
        levels.append(dict.fromkeys(kept[:2_000]))
    lines = ["\\data\\", *(f"ngram {n}={len(each)}" for n, each in enumerate(levels, start=1))]
    for n, level in enumerate(levels, start=1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in level:
            back_off = f"\t{draw.uniform(-3, 0.4):.6f}" if n < order and draw.random() < 0.8 else ""
            lines.append(f"{draw.uniform(-8, -2):.6f}\t{' '.join(ngram)}{back_off}")
    return "\n".join([*lines, "", "\\end\\", ""])


def random_row(python: Path, folder: Path, models: int, count: int) -> list[str]:
    """Random models: what was compared, and the worst of them."""
    compared_all, worst, means = 0, 0.0, []
    for seed in range(models):
        arpa = folder / "random.arpa"
        arpa.write_text(random_arpa(seed, 2 + seed % 4))
        pack_arpa(arpa, folder / "random.lm")
        image = LmImage(folder / "random.lm")
        queries = queries_of(arpa, count // models, seed)
        number, most, mean = compared(image, costs_by_kenlm(python, arpa, queries, folder), queries)
        compared_all += number
        worst = max(worst, most)
        means.append(mean)
    name = f"{models} random, orders 2 to 5"
    return [name, f"{compared_all:,}", f"{worst:.3f}", f"{np.mean(means):.3f}"]


def times(image: LmImage, queries: Sequence[Query]) -> list[str]:
    """Microseconds of a lookup by all pairs in random order: the first time, and once more."""
    _, _, states, words = costs_by_image(image, queries)
    fresh = LmImage(image.path)
    found = []
    for _ in range(2):
        begin = time.perf_counter()
        fresh.look_up(states, words)
        found.append(f"{(time.perf_counter() - begin) / len(words) * 1e6:.3f}")
    return found


def pack_row(arpa: Path, out: Path) -> list[str]:
    """What packing takes, in a process of its own."""
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from earshot.decoder_kernels.lm.lm_pack import pack_arpa\n"
        "pack_arpa(*map(Path, sys.argv[1:]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    begin = time.perf_counter()
    command = [sys.executable, "-c", code, str(arpa), str(out)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    wall = time.perf_counter() - begin
    header = LmImage(out).header
    size = header.file_size / header.num_ngrams
    return [f"{header.num_ngrams:,}", f"{header.states:,}", f"{wall:.0f}", f"{int(told) // 1024}",
            f"{size:.2f}"]  # fmt: skip


def main() -> None:
    """Pack, compare, print, and write the report where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arpa", type=Path, help="a real model, not zipped")
    parser.add_argument("--kenlm", type=Path, required=True, help="a Python that has KenLM")
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=40, help="random ones")
    parser.add_argument("--report", action="store_true", help="write docs/benchmarks/")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder)
        packing = pack_row(arguments.arpa, own / "real.lm")
        image = LmImage(own / "real.lm")
        queries = queries_of(arguments.arpa, arguments.queries)
        rows = [random_row(arguments.kenlm, own, arguments.models, arguments.queries)]
        kenlm = costs_by_kenlm(arguments.kenlm, arguments.arpa, queries, own)
        number, most, mean = compared(image, kenlm, queries)
        name = f"{arguments.arpa.name}, order {image.order}"
        rows.append([name, f"{number:,}", f"{most:.3f}", f"{mean:.3f}"])
        lookups = times(image, queries)
    body = (
        "Differences from KenLM, in steps of 2^-10 nat:\n\n"
        + table(["model", "words compared", "largest", "mean"], rows)
        + "\n\nPacking the real one, and its image:\n\n"
        + table(["n-grams", "contexts", "wall, s", "most memory, MB", "bytes an n-gram"], [packing])
        + "\n\nMicroseconds of a lookup in random order, its file in the page cache:\n\n"
        + table(["pages not yet mapped", "again"], [lookups])
    )
    print(body, f"\n{processor_name()}, {resident_mb():.0f} MB resident")
    if arguments.report:
        print(write_report("lm_lookup", "Lookups in language models' images", body))


if __name__ == "__main__":
    main()
