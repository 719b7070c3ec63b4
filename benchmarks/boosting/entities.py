"""Claim: members of a class are written falsely less often than key terms, and missed more often.

Development recordings of read books with words that the bundled graph lacks (*names*), and as many
without, first pass. `names`, the model that requests name, is a 3-gram of training transcripts of
read books, in which ``<name>`` stands for each word that the graph lacks. All names of the
recordings are key terms, or members. *Heard*: of the places where they are said. *False*: where
nobody says them. *Ranked*, or asked in the search (`lm_in_search`).
``--home-costs`` looks at what arcs charge (`HOME_COST`), on training recordings instead, which are
then left out of the text.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks.boosting.named_search import GRAPH_FILE
from benchmarks.boosting.rare_names import BOOKS
from benchmarks.recognition.served_wer import Served
from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.wfst.word_errors import WordErrors
from earshot.decoder_kernels.boosting import class_member
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.models.bundled import bundled_model_dir
from earshot.service.commands import lm
from earshot.streaming.entities import NO_ENTITIES, read_entities
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.lm_mix import read_lm
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.corpus.utterance import Utterance

CLASS = "name"
MIX = "on:0.7,names:0.3"
WEIGHT = 8.0
FRAMES = 16
TUNED = 10
"""One of so many training recordings is left out of the text for `--home-costs`."""
HEADER = ("", "", "heard", "false", "word errors, %", "without names, %")


@dataclass(frozen=True)
class Arm:
    """What streams are given, and whether the search asks the model or it ranks."""

    name: str
    has_lm: bool = False
    has_terms: bool = False
    has_members: bool = False
    in_search: bool = False

    def config(self, names: Sequence[str]) -> StreamConfig:
        """What a stream asks for."""
        graph = GraphOptions(
            lm=read_lm(MIX) if self.has_lm else None,
            entities=read_entities({CLASS: list(names)}) if self.has_members else NO_ENTITIES,
        )
        boosts = tuple(Boost(name, WEIGHT) for name in names) if self.has_terms else ()
        mode = "ctc_wfst_beam_search"
        return StreamConfig(mode=mode, interim_results=False, graph=graph, boosts=boosts)

    @property
    def way(self) -> str:
        """What the table calls it."""
        if not self.has_lm:
            return ""
        return "searched" if self.in_search else "ranked"


@dataclass(frozen=True, eq=False)
class Material:
    """Recordings with names and without, and sentences with the class in their place."""

    saying: Sequence[Utterance]
    others: Sequence[Utterance]
    names: Sequence[str]
    sentences: Sequence[str]

    @classmethod
    def of(cls, speech: Sequence[Utterance], text: Sequence[Utterance]) -> "Material":
        """The recordings that say words beyond the graph, and as many others."""
        known = frozenset(read_graph(bundled_model_dir() / GRAPH_FILE).word_texts)
        lacks = {each.path: set(each.text.split()) - known for each in speech}
        saying = [each for each in speech if lacks[each.path]]
        others = [each for each in speech if each.text and not lacks[each.path]][: len(saying)]
        sentences = [
            " ".join(word if word in known else f"<{CLASS}>" for word in each.text.split())
            for each in text
        ]
        return cls(saying, others, sorted(set().union(*lacks.values())), sentences)

    @property
    def speech(self) -> list[Utterance]:
        """All recordings."""
        return [*self.saying, *self.others]

    def cells(self, texts: Sequence[str]) -> list[str]:
        """A line of the table."""
        wanted = [self._counted(each.text) for each in self.speech]
        found = [self._counted(text) for text in texts]
        pairs = list(zip(wanted, found, strict=True))
        heard = sum((said & told).total() for said, told in pairs)
        wrong = sum((told - said).total() for said, told in pairs)
        return [
            f"{heard} of {sum(each.total() for each in wanted)}",
            str(wrong),
            self._errors(self.saying, texts[: len(self.saying)]),
            self._errors(self.others, texts[len(self.saying) :]),
        ]

    def _counted(self, text: str) -> Counter[str]:
        return Counter(word for word in text.split() if word in set(self.names))

    @staticmethod
    def _errors(speech: Sequence[Utterance], texts: Sequence[str]) -> str:
        return str(WordErrors.of([each.text for each in speech], list(texts)))


def books(speech: Sequence[Utterance]) -> list[Utterance]:
    """The recordings of read books."""
    return [each for each in speech if each.corpus == BOOKS and each.text]


def build_lm(sentences: Sequence[str], folder: Path) -> None:
    """An image of a 3-gram, as `earshot lm build` makes it."""
    text = folder / "names.txt"
    text.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    parser = argparse.ArgumentParser()
    lm.add_arguments(parser)
    asked = ["build", str(text), "--as-is", "--order", "3", "--out", str(folder / "names.lm")]
    lm.run(parser.parse_args(asked))


def arms(*, in_search: bool) -> Iterator[Arm]:
    """What one engine hears; without a model the two are the same."""
    if not in_search:
        yield Arm("neither")
        yield Arm("key terms", has_terms=True)
    yield Arm("model alone", has_lm=True, in_search=in_search)
    yield Arm("key terms and model", has_lm=True, has_terms=True, in_search=in_search)
    yield members(in_search=in_search)


def members(*, in_search: bool) -> Arm:
    """The arm with names as members."""
    return Arm("entities", has_lm=True, has_members=True, in_search=in_search)


def heard(material: Material, folder: Path, costs: Sequence[float]) -> Iterator[list[str]]:
    """Lines of the table, or of each cost."""
    for in_search in (False, True):
        served = Served(bundled_model_dir(), FRAMES, lm_dir=folder, lm_in_search=in_search)
        chosen = [members(in_search=in_search)] * len(costs) or list(arms(in_search=in_search))
        for place, arm in enumerate(chosen):
            cost = costs[place] if costs else class_member.HOME_COST
            with patch.object(class_member, "HOME_COST", cost):
                texts = served.hear(material.speech, arm.config(material.names)).texts
            name = f"{arm.name}, {cost:g} nats" if costs else arm.name
            yield [name, arm.way, *material.cells(texts)]
        served.close()


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home-costs", type=float, nargs="+", default=[], metavar="NATS")
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    train = books(read_speech(SHARED / "speech" / "train.tsv"))
    speech = books(read_dev_speech(SHARED / "speech" / "dev.tsv"))
    if asked.home_costs:
        speech, train = train[::TUNED], [e for i, e in enumerate(train) if i % TUNED]
    material = Material.of(speech, train)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        build_lm(material.sentences, Path(folder))
        for line in heard(material, Path(folder), asked.home_costs):
            lines.append(line)
            print(line, flush=True)
    said = (
        f"{len(material.saying)} recordings with {len(material.names)} names, and "
        f"{len(material.others)} without; {len(material.sentences)} sentences of text."
    )
    body = f"{below_claim(__doc__)}\n\n{said}\n\n{table(HEADER, lines)}\n"
    is_written = asked.write and not asked.home_costs
    show_report("entities", "Names as members of a class", body, is_written=is_written)


if __name__ == "__main__":
    main()
