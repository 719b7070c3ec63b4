"""Claim: what clients get of speech that is not read, and of which nothing was trained or tuned.

``python -m benchmarks.recognition.unread_speech DIR/manifest.tsv``, with the corpora that
docs/training.md gathers under "Speech that is not read". Each recording is a stream of its own,
with endpoints and all defaults but the chunk size.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from benchmarks.recognition.served_wer import Heard, Served, frames, frames_name
from benchmarks.report import below_claim, table, write_report
from earshot.models.bundled import bundled_model_dir
from earshot.streaming.stream_config import WHOLE, StreamConfig
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.corpus.utterance import Utterance

SIZES = (WHOLE, 16, 8)


def corpora(chosen: list[Utterance]) -> list[list[str]]:
    """Corpus, recordings, speakers, minutes and words in rows."""
    rows = []
    for corpus in dict.fromkeys(each.corpus for each in chosen):
        of_it = [each for each in chosen if each.corpus == corpus]
        minutes = sum(each.seconds for each in of_it) / 60
        words = sum(len(each.text.split()) for each in of_it)
        speakers = len({each.speaker for each in of_it})
        rows.append([corpus, str(len(of_it)), str(speakers), f"{minutes:.1f}", f"{words:,}"])
    return rows


def rates(heard: Mapping[float, Heard]) -> list[list[str]]:
    """Word error rates of all, each corpus and each speaker in rows, chunk sizes in columns."""
    first = next(iter(heard.values()))
    rows = [["both", *(str(each.errors()) for each in heard.values())]]
    for corpus in dict.fromkeys(each.corpus for each in first.chosen):
        rows.append([f"**{corpus}**", *(str(each.of(corpus).errors()) for each in heard.values())])
        rows += [
            [speaker, *(str(each.of(corpus, speaker).errors()) for each in heard.values())]
            for speaker in first.of(corpus).speakers()
        ]
    return rows


def main() -> None:
    """Decode at each chunk size; write docs/benchmarks/unread_speech.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("manifest", type=Path, help="of the gathered corpora")
    parser.add_argument("--model", type=Path, default=bundled_model_dir())
    parser.add_argument("--chunks", type=frames, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    chosen = sorted(read_dev_speech(options.manifest, aside=True), key=lambda each: each.seconds)
    heard = {}
    for size in options.chunks:
        served = Served(options.model, size)
        heard[size] = served.hear(chosen, StreamConfig(interim_results=False))
        served.close()
    body = "\n\n".join([
        below_claim(__doc__),
        table(["corpus", "recordings", "speakers", "minutes", "words"], corpora(chosen)),
        "Percent of words, by frames of a chunk, ± half of the interval of 95 %:",
        table(["", *map(frames_name, heard)], rates(heard)),
    ])  # fmt: skip
    print(write_report("unread_speech", "Speech that is not read, as clients get it", body))


if __name__ == "__main__":
    main()
