"""Claim: a language model in the first pass lowers the word error rate; by topology and by corpus.

Table 1 of Galvez & Kaldewey 2023 (arXiv:2311.04996) in small: CTC greedy, prefix beam search, and
graph search with the "compact" and the "normal" rule, implicit and explicit, all on the same
posteriors of the bundled model (chunk-masked, which equals streaming) over development recordings.
The graph is made by ``earshot graph build`` of a language model that has not read them. No second
pass.
"""

import argparse
import dataclasses
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.report import SHARED, table, write_report
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.ours import NEXT_TO_NO_ALTERNATIVES, Batch, OurSearch
from benchmarks.wfst.posteriors import Utterance, total_frames
from benchmarks.wfst.word_errors import WordErrors
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions
from earshot.language.graphs.explicit import explicit_graph
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.layers.ctc import collapse
from earshot.streaming.words.fitted_words import words_of

Decode = Callable[[Tensor], str]
SLOT = torch.tensor([0])


def greedy(loaded: LoadedModel) -> Decode:
    """The likeliest token of each frame."""
    blank = loaded.model.config.blank_id
    return lambda rows: loaded.tokenizer.decode(collapse(rows.argmax(-1).tolist(), blank))


def prefix(loaded: LoadedModel) -> Decode:
    """Prefix beam search."""
    config = PrefixSearchConfig(blank_id=loaded.model.config.blank_id)
    search = PrefixSearch(config, 1, loaded.model.config.vocab_size)

    def decode(rows: Tensor) -> str:
        search.reset(SLOT)
        search.advance(SLOT, rows[None], torch.tensor([len(rows)]))
        return loaded.tokenizer.decode(list(search.best(SLOT)[0].hypothesis.tokens))

    return decode


def wfst(graph: Graph, options: WfstOptions) -> Decode:
    """Graph search."""
    ours = OurSearch(graph, options)

    def decode(rows: Tensor) -> str:
        ours.start()
        ours.advance(Batch.of([rows]))
        [best] = ours.best(finalize=True)
        return " ".join(graph.word_texts[word] for word in best.words)

    return decode


class Arm:
    """A decoder, its texts by corpus, and the time it took."""

    def __init__(self, name: str, decode: Decode) -> None:
        self.name = name
        self._decode = decode
        self._texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._seconds = 0.0

    def take(self, utterance: Utterance) -> None:
        """Decode a recording."""
        rows = torch.from_numpy(utterance.log_probs)
        began = time.process_time()
        text = self._decode(rows)
        self._seconds += time.process_time() - began
        self._texts[utterance.corpus].append((utterance.text, text))

    def row(self, corpora: Sequence[str], frames: int) -> list[str]:
        """Its line of the table: error rates, and microseconds per frame."""
        found = [WordErrors.of(*zip(*self._texts[name], strict=True)) for name in corpora]
        return [self.name, *map(str, found), f"{1e6 * self._seconds / frames:.0f}"]


def graph_arms(
    graph: Graph, beam: float, max_active: int, scales: Sequence[float], explicit: float
) -> list[Arm]:
    """Each rule at each scale of the language model; the explicit forms at one of them."""

    def arm(name: str, form: Graph, scale: float) -> Arm:
        options = WfstOptions(
            beam=beam,
            max_active=max_active,
            lattice_beam=NEXT_TO_NO_ALTERNATIVES,
            graph_scale=scale,
        )
        return Arm(f"{name}, scale {scale:g}", wfst(form, options))

    forms = {rule: dataclasses.replace(graph, topology=rule) for rule in ("compact", "normal")}
    return [
        *(arm(rule, form, scale) for rule, form in forms.items() for scale in scales),
        arm("explicit compact", explicit_graph(graph, "compact"), explicit),
        arm("explicit normal", explicit_graph(graph, "normal"), explicit),
    ]


def unknown_row(graph: Graph, utterances: Sequence[Utterance], corpora: Sequence[str]) -> list[str]:
    """The share of words that the graph does not have."""
    known = set(graph.word_texts)
    shares = []
    for name in corpora:
        said = [word for each in utterances if each.corpus == name for word in each.text.split()]
        shares.append(f"{100 * sum(word not in known for word in said) / len(said):.1f}")
    return ["words unknown to the graph", *shares, ""]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph", type=Path, help="compiled, compact or normal")
    parser.add_argument("--lm", required=True, help="what the language model is, for the page")
    parser.add_argument("--per-corpus", type=int, default=120, help="recordings of each corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beam", type=float, default=12.0)
    parser.add_argument("--max-active", type=int, default=3000)
    parser.add_argument("--scales", type=float, nargs="+", default=[0.2, 0.3, 0.5])
    parser.add_argument("--explicit-scale", type=float, default=0.3)
    return parser.parse_args()


def main() -> None:
    """Run it and write docs/benchmarks/graph_wer.md."""
    chosen = arguments()
    torch.set_num_threads(1)
    loaded, graph = load_model(bundled_model_dir()), read_graph(chosen.graph)
    some = recordings(SHARED / "speech" / "dev.tsv", chosen.per_corpus, chosen.seed)
    utterances = posteriors(loaded, some)
    words = words_of(graph, loaded)
    of_graph = posteriors(loaded, some, words)
    without = [Arm("greedy", greedy(loaded)), Arm("prefix beam search", prefix(loaded))]
    searches = graph_arms(
        graph, chosen.beam, chosen.max_active, chosen.scales, chosen.explicit_scale
    )
    for tokens, units in zip(utterances, of_graph, strict=True):
        for arm in without:
            arm.take(tokens)
        for arm in searches:
            arm.take(units)
    arms = without + searches
    corpora = sorted({each.corpus for each in utterances})
    counts = [sum(each.corpus == name for each in utterances) for name in corpora]
    header = [f"{name} ({count})" for name, count in zip(corpora, counts, strict=True)]
    rows = [arm.row(corpora, total_frames(utterances)) for arm in arms]
    config = loaded.model.config
    frame_ms = 10 * loaded.model.encoder.subsampling_rate
    body = f"""
At most {chosen.per_corpus} development recordings of each corpus, drawn with seed {chosen.seed};
chunks of {config.decoding.chunk_size} frames, no second pass. Language model: {chosen.lm}; graph of
{graph.num_nodes:,} nodes and {graph.num_arcs:,} arcs, {len(graph.word_texts) - 1:,} words. Beam
{chosen.beam:g}, max_active {chosen.max_active:,}, the language model's costs multiplied by the
scale. Percent of words, ± half of the interval of 95 %; microseconds per frame of {frame_ms} ms on
one thread, decoder only. Greedy and prefix search hear tokens, the graph is spelled in
{words.units}.

{table(["decoder", *header, "us per frame"], [*rows, unknown_row(graph, utterances, corpora)])}
"""
    print(body)
    print(write_report("graph_wer", "Word error rate with a language model", body.lstrip()))


if __name__ == "__main__":
    main()
