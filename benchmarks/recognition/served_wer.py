"""Claim: what clients get. Word error rates through the engine's own streams, with the graph.

Each recording is a stream of its own, with endpoints and all defaults but the decoding mode and the
chunk size. Of coffee orders the slots are looked at as well: what a till would have to understand.
"""

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import soundfile

from benchmarks.report import SHARED, below_claim, table, write_report
from benchmarks.server.batching import run_all
from benchmarks.wfst.bundled import recordings
from benchmarks.wfst.word_errors import WordErrors
from earshot.language.text.transcript_text import normalise_text
from earshot.models.bundled import bundled_model_dir
from earshot.models.native.precision import PrecisionChoice
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.parts.resolver import find_parts
from earshot.streaming.stream_config import WHOLE, WHOLE_NAME, StreamConfig
from earshot.training.corpus.utterance import Utterance

DEV = SHARED / "speech" / "dev.tsv"
TOGETHER = 16
DEFAULT = "`attention_rescoring`"
ARMS = {
    "`attention_rescoring`, `lm=off`": StreamConfig(
        interim_results=False, graph=GraphOptions(lm=False)
    ),
    "`ctc_wfst_beam_search`": StreamConfig(mode="ctc_wfst_beam_search", interim_results=False),
    "`attention_rescoring`, `neural_lm_weight=0`": StreamConfig(
        interim_results=False, weights={"neural_lm": 0.0}
    ),
    DEFAULT: StreamConfig(interim_results=False),
}


@dataclass(frozen=True)
class Heard:
    """What came of recordings."""

    chosen: Sequence[Utterance]
    texts: Sequence[str]

    def of(self, corpus: str, speaker: str | None = None) -> "Heard":
        """Of one corpus, and of one of its speakers."""
        pairs = zip(self.chosen, self.texts, strict=True)
        kept = [
            (each, text)
            for each, text in pairs
            if each.corpus == corpus and speaker in (None, each.speaker)
        ]
        return Heard([each for each, _ in kept], [text for _, text in kept])

    def speakers(self) -> list[str]:
        """Who speaks."""
        return sorted({each.speaker for each in self.chosen})

    def errors(self) -> WordErrors:
        """Of words."""
        return WordErrors.of([each.text for each in self.chosen], self.texts)

    def slots_right(self, slots: dict[Path, list[str]]) -> float:
        """Percent of the slots whose words a text has, one after the other."""
        pairs = zip(self.chosen, self.texts, strict=True)
        found = [f" {slot} " in f" {text} " for each, text in pairs for slot in slots[each.path]]
        return 100.0 * sum(found) / len(found)


def read_slots(manifest: Path) -> dict[Path, list[str]]:
    """What each order asks for: the values of its slots, as they are said."""
    with manifest.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        manifest.parent / row["path"]: [
            normalise_text(v) for v in json.loads(row["slots"]).values()
        ]
        for row in rows
        if row["slots"]
    }


class Served:
    """An engine of a model, heard in chunks of one size; with the bundled graph, or another.

    And with the bundled neural language model. chunk_frames: `WHOLE` for finals that hear their
    segments as a whole. bare: with neither of them, as a model of another family is served. lm_dir:
    of language models that streams may name; lm_in_search: the search itself asks these.
    """

    def __init__(
        self,
        model: Path,
        chunk_frames: float,
        graph: Path | None = None,
        precision: PrecisionChoice = "auto",
        bare: bool = False,
        lm_dir: Path | None = None,
        lm_in_search: bool = False,
    ) -> None:
        whole = chunk_frames == WHOLE
        config = EngineConfig(
            max_streams=TOGETHER, max_file_lanes=TOGETHER, threads=1, max_backlog_s=120,
            max_utterance_ms=40_000, precision=precision,
            chunk_size=None if whole else int(chunk_frames), lm_dir=lm_dir,
            graph_search=GraphSearchConfig(lm_in_search=lm_in_search),
        )  # fmt: skip
        self._chunk_ms = WHOLE if whole else None
        own = {} if bare else find_parts()
        parts = own if graph is None else {**own, "graph": graph}
        self._engine = build_engine(model, parts, config, device="cpu")
        self._engine.start()

    def hear(self, chosen: Sequence[Utterance], config: StreamConfig) -> Heard:
        """All recordings, some at a time."""
        asked = replace(config, chunk_ms=config.chunk_ms or self._chunk_ms)
        texts: list[str] = []
        for start in range(0, len(chosen), TOGETHER):
            some = chosen[start : start + TOGETHER]
            audio = [soundfile.read(each.path, dtype="float32")[0] for each in some]
            texts += run_all(self._engine, audio, asked)
        return Heard(chosen, texts)

    def close(self) -> None:
        """End it."""
        self._engine.stop(timeout_s=10)


class Tables:
    """What was heard at each chunk size by each arm, chunk sizes in columns."""

    def __init__(self, heard: Mapping[tuple[float, str], Heard]) -> None:
        self._heard = heard
        self._sizes = list(dict.fromkeys(size for size, _ in heard))
        self._all = next(iter(heard.values()))

    def body(self) -> str:
        """Error rates of each corpus and its speakers, and of slots."""
        parts = [below_claim(__doc__)]
        for corpus in dict.fromkeys(each.corpus for each in self._all.chosen):
            parts += self._of_corpus(corpus)
        return "\n\n".join([*parts, self._of_slots()])

    def _of_corpus(self, corpus: str) -> list[str]:
        of_it = self._all.of(corpus)
        title = f"**{corpus}**: {len(of_it.chosen)} recordings, percent of words"
        parts = [self._table(title, [[name, *self._errors(name, corpus)] for name in ARMS])]
        if len(speakers := of_it.speakers()) > 1:
            rows = [[f"speaker {each}", *self._errors(DEFAULT, corpus, each)] for each in speakers]
            parts.append(self._table(f"By speaker, {DEFAULT}:", rows))
        return parts

    def _errors(self, arm: str, corpus: str, speaker: str | None = None) -> list[str]:
        return [str(self._heard[size, arm].of(corpus, speaker).errors()) for size in self._sizes]

    def _of_slots(self) -> str:
        slots = read_slots(DEV)
        rows = [
            [arm]
            + [
                f"{self._heard[size, arm].of('coffee').slots_right(slots):.1f}"
                for size in self._sizes
            ]
            for arm in ARMS
        ]
        return self._table("**slots of coffee orders**, percent that are right", rows)

    def _table(self, title: str, rows: list[list[str]]) -> str:
        header = ["", *map(frames_name, self._sizes)]
        return f"{title}\n\n{table(header, rows)}"


def frames(text: str) -> float:
    """A chunk's size on the command line."""
    return WHOLE if text == WHOLE_NAME else int(text)


def frames_name(size: float) -> str:
    """A chunk's size in a heading."""
    return WHOLE_NAME if size == WHOLE else f"{size:g}"


def main() -> None:
    """Decode with every chunk size and mode; write a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=bundled_model_dir())
    parser.add_argument("--per-corpus", type=int, help="recordings drawn of each; all if absent")
    parser.add_argument("--aside", action="store_true", help="those that are put aside: at the end")
    parser.add_argument("--chunks", type=frames, nargs="+", default=[WHOLE, 32, 16, 8, 4])
    options = parser.parse_args()
    found = recordings(DEV, options.per_corpus, seed=1, aside=options.aside)
    chosen = sorted(found, key=lambda each: each.seconds)
    heard: dict[tuple[float, str], Heard] = {}
    for chunk_frames in options.chunks:
        served = Served(options.model, chunk_frames)
        for name, config in ARMS.items():
            heard[chunk_frames, name] = served.hear(chosen, config)
        served.close()
    print(write_report("served_wer", "Word error rates as clients get them", Tables(heard).body()))


if __name__ == "__main__":
    main()
