"""The bundled graph's first pass over recordings, as an engine searches, with lists of names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.wfst.bundled import posteriors
from benchmarks.wfst.ours import Batch, OurSearch
from benchmarks.wfst.posteriors import Utterance as Frames
from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.language.g2p.pronouncer import Pronouncer, pronouncer_of
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.words.fitted_words import words_of
from earshot.streaming.words.graph_words import GraphWords
from earshot.training.corpus.utterance import Utterance

GRAPH_FILE = "lm.graph.xz"
STREAMS = 16


@dataclass(frozen=True, eq=False)
class NameTable:
    """A list of names at one weight as the search takes it; ``texts`` of the graph and of these."""

    table: WordBoostTable
    texts: Sequence[str]


class NamedSearch:
    """First pass over recordings whose posteriors are kept; each list is searched anew."""

    def __init__(
        self,
        words: GraphWords,
        pronouncer: Pronouncer,
        options: WfstOptions,
        heard: Mapping[Path, Frames],
    ) -> None:
        self.words = words
        self._pronouncer = pronouncer
        self._options = options
        self._heard = heard
        self._search = OurSearch(words.graph, options, STREAMS)

    def spellings(self, name: str) -> Sequence[int | Spelling]:
        """How a name stands in a list: the graph's word, or else in each way that the G2P knows."""
        known = self.words.find(name)
        return [known] if known is not None else self._pronouncer.ways([name])[name]

    def table(self, names: Sequence[str], weight: float) -> NameTable:
        """A list, each of whose names earns `weight` or what its limits leave of it.

        Of two names that sound alike the first is written.
        """
        written: dict[int | Spelling, str] = {}
        for name in names:
            for how in self.spellings(name):
                written.setdefault(how, name)
        table = WordBoostTable.compile(
            [WordPhrase((how,), weight) for how in written],
            self.words.graph,
            beam=self._options.beam,
            graph_scale=self._options.graph_scale,
            costs=self.words.costs,
            num_tokens=lambda word: len(self.words.spelled(word).tokens),
        )
        added = (written[spelling] for spelling in table.spellings)
        return NameTable(table, [*self.words.graph.word_texts, *added])

    def texts(self, speech: Sequence[Utterance], names: NameTable | None = None) -> list[str]:
        """What the first pass writes of each recording; empty where it has no frame."""
        for slot in range(STREAMS):
            self._search.search.set_boost(slot, None if names is None else names.table)
        texts = self.words.graph.word_texts if names is None else names.texts
        found: dict[Path, str] = {}
        order = sorted((each.path for each in speech if each.path in self._heard), key=self._length)
        for start in range(0, len(order), STREAMS):
            some = order[start : start + STREAMS]
            for path, best in zip(some, self._best(some), strict=False):
                found[path] = " ".join(texts[word] for word in best)
        return [found.get(each.path, "") for each in speech]

    def _length(self, path: Path) -> int:
        return len(self._heard[path].log_probs)

    def _best(self, paths: Sequence[Path]) -> list[Sequence[int]]:
        rows = [torch.from_numpy(self._heard[path].log_probs) for path in paths]
        idle = [rows[0][:0]] * (STREAMS - len(rows))
        self._search.start()
        self._search.advance(Batch.of([*rows, *idle]))
        return [each.words for each in self._search.best(finalize=True)]


def bundled_search(speech: Sequence[Utterance]) -> NamedSearch:
    """The bundled model's, which has heard these recordings once."""
    loaded = load_model(bundled_model_dir())
    words = words_of(read_graph(bundled_model_dir() / GRAPH_FILE), loaded)
    pronouncer = pronouncer_of(loaded)
    if pronouncer is None:
        raise SystemExit("the model does not know how names are pronounced")
    config = GraphSearchConfig().of(u2_of(loaded).config.decoding)
    heard = {}
    for each in speech:
        for frames in posteriors(loaded, [each], words):
            heard[each.path] = frames
    return NamedSearch(words, pronouncer, config.options(StreamConfig().graph), heard)
