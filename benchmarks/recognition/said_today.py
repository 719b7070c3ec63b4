"""Claim: the bundled graph knows what people say today, besides what old books say.

``python -m benchmarks.recognition.said_today build/sentences/*.held_out.txt --graphs
OLD.graph.xz``: sentences that no language model was made of, out of the collections that the
bundled one has learnt from (docs/graphs.md), spoken by espeak-ng and flite and heard with each
graph through the engine's own streams. The network knows these voices from its training, and nobody
hesitates: such rates tell graphs apart, and not what people will see.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.recognition.served_wer import Served
from benchmarks.report import table, write_report
from benchmarks.wfst.graph_files import REPOSITORY
from benchmarks.wfst.word_errors import WordErrors
from earshot.models.bundled import bundled_model_dir
from earshot.streaming.stream_config import StreamConfig
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.utterance import Utterance

CHUNK_FRAMES = 16
SEED = 7


def spoken(text: Path, count: int, folder: Path) -> list[Utterance]:
    """So many sentences of a text, by engines and voices drawn with a fixed seed."""
    name = text.name.split(".")[0]
    command = [sys.executable, "-m", "earshot.service", "synthesize", str(folder / name)]
    command += ["--text", str(text.resolve()), "--count", str(count), "--seed", str(SEED)]
    command += ["--kinds", "sentences=1", "--rate", "0.9:1.1", "--corpus", name]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    return read_speech(folder / name / "manifest.tsv")


def rates(said: Sequence[Sequence[Utterance]], graph: Path) -> list[str]:
    """Word error rates of each text with a graph."""
    served = Served(bundled_model_dir(), CHUNK_FRAMES, graph)
    config = StreamConfig(interim_results=False)
    heard = [served.hear(each, config) for each in said]
    served.close()
    return [str(WordErrors.of([u.text for u in each.chosen], each.texts)) for each in heard]


def main() -> None:
    """Speak, hear with each graph, and write docs/benchmarks/said_today.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", type=Path, nargs="+", metavar="NAME.held_out.txt")
    parser.add_argument("--graphs", type=Path, nargs="*", default=[], help="besides the bundled")
    parser.add_argument("--count", type=int, default=300, help="sentences of each text")
    options = parser.parse_args()
    graphs = [bundled_model_dir() / "lm.graph.xz", *options.graphs]
    with tempfile.TemporaryDirectory() as folder:
        said = [spoken(text, options.count, Path(folder)) for text in options.texts]
        rows = [
            ["the bundled graph" if i == 0 else graph.name, *rates(said, graph)]
            for i, graph in enumerate(graphs)
        ]
    names = [text.name.split(".")[0] for text in options.texts]
    body = f"""{(__doc__ or "").split(chr(10) * 2, 1)[1].strip()}

Percent of the words wrong, chunks of {CHUNK_FRAMES} frames, attention rescoring, {options.count}
sentences of each text, ± half of the interval of 95 percent.

{table(["", *names], rows)}"""
    print(write_report("said_today", "Sentences of today", body))


if __name__ == "__main__":
    main()
