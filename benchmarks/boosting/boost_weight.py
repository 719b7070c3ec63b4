"""Claim: a few nats of boost for the words that are said help, and for other words do no harm.

Figure 6 of Galvez & Kaldewey 2023 (arXiv:2311.04996) in small: boost weight against word error
rate, for the words of the recordings (*true* list) and for as many that nobody says (*wrong* list).
Words that the graph does not have (OOV) are added with the tokenizer's spelling, in both lists.
What a word earns is limited (`word_boost`), in one arm only by the 20 nats that no weight goes
beyond, as in the paper; single runs at silly weights show what becomes of the output then. Wake
phrases show what adding them alone does. Wants matplotlib.
"""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from benchmarks.report import RESULTS, SHARED, table, write_report
from earshot.streaming.words.fitted_words import words_of

try:
    from benchmarks.boosting.boost_plot import Curve, plot_curves
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is missing: pip install matplotlib") from error
from benchmarks.boosting.boost_lists import BoostList, read_dictionary
from benchmarks.boosting.boosting import Boosting, GraphBoosting, TokenBoosting
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.ours import NEXT_TO_NO_ALTERNATIVES
from benchmarks.wfst.posteriors import Utterance, total_frames
from benchmarks.wfst.word_errors import WordErrors, longest_run
from earshot.decoder_kernels.boosting.boost import MAX_WEIGHT, TOKEN_LIMIT
from earshot.decoder_kernels.boosting.word_boost import BEAM_SHARE, COST_SHARE
from earshot.decoder_kernels.graph.graph import Topology
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.word_costs import unigram_costs
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model

ORDERS, WAKES = "coffee", "wakewords"
RULES: tuple[Topology, ...] = ("compact", "normal")
FREE = f"{RULES[0]}, without limits"
WEIGHTS = (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, MAX_WEIGHT)
NO_GRAPH_WEIGHTS = (0.0, 0.5, 1.0, 2.0, 3.0, 20.0)
WAKE_WEIGHTS = (0.0, 2.0)
SILLY_WEIGHTS = (1e3, -1e3)
LETTERS = 4
TRUE = "words that are said"
LONG = f"of these, {LETTERS} letters or more"
OVERLAPPING = "these words, two and three in a row too"
WRONG = "as many that are not"
SEQUENCE_WORDS = 3
SILLY_HEADER = (
    "rule", "list", "weight", "WER", "words written / said",
    "longest run of one word", "us per frame",
)  # fmt: skip


def errors_of(
    boosting: Boosting, utterances: Sequence[Utterance], words: BoostList, weight: float
) -> WordErrors:
    """Of one run."""
    found = boosting.run(utterances, words, weight).errors(utterances)
    print(f"{len(words.phrases)} phrases at {weight:g}: {found}", flush=True)
    return found


def curves(
    boosting: Boosting,
    utterances: Sequence[Utterance],
    lists: Mapping[str, BoostList],
    weights: Sequence[float],
) -> dict[str, Curve]:
    """Error rates by list and weight."""
    return {
        name: [(weight, errors_of(boosting, utterances, words, weight)) for weight in weights]
        for name, words in lists.items()
    }


def curve_table(
    boosting: Boosting, utterances: Sequence[Utterance], found: Mapping[str, Curve]
) -> str:
    """A line for each weight, and one without a list: even one of weight 0 adds words."""
    none = errors_of(boosting, utterances, BoostList((), ()), 0.0)
    rows = [["no list", *[str(none)] * len(found)]]
    rows += [
        [f"{points[0][0]:g}", *(str(errors) for _, errors in points)]
        for points in zip(*found.values(), strict=True)
    ]
    return table(("weight", *found), rows)


def silly_rows(
    boosting: Boosting,
    rule: str,
    utterances: Sequence[Utterance],
    lists: Mapping[str, BoostList],
) -> list[list[str]]:
    """What weights give that nobody should choose."""
    said = sum(len(each.text.split()) for each in utterances)
    rows = []
    for name, words in lists.items():
        for weight in SILLY_WEIGHTS:
            run = boosting.run(utterances, words, weight)
            written = sum(len(text.split()) for text in run.texts)
            took = 1e6 * run.seconds / total_frames(utterances)
            rows.append([
                rule, name, f"{weight:g}", str(run.errors(utterances)),
                f"{written:,} / {said:,}", str(longest_run(run.texts)), f"{took:.0f}",
            ])  # fmt: skip
    return rows


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph", type=Path, help="compiled, compact or normal")
    parser.add_argument("--lm", required=True, help="what the language model is, for the page")
    parser.add_argument("--dictionary", type=Path, default=SHARED / "text" / "cmudict.dict")
    parser.add_argument("--per-corpus", type=int, default=50, help="recordings of each corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beam", type=float, default=12.0)
    parser.add_argument("--max-active", type=int, default=1000)
    parser.add_argument("--scale", type=float, default=0.9, help="of the language model's costs")
    return parser.parse_args()


class Material:
    """What is decoded, and with what: posteriors and lists by corpus, searches by rule."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        loaded = load_model(bundled_model_dir())
        self.graph = read_graph(chosen.graph)
        options = WfstOptions(
            beam=chosen.beam,
            max_active=chosen.max_active,
            lattice_beam=NEXT_TO_NO_ALTERNATIVES,
            graph_scale=chosen.scale,
        )
        self.without_graph = TokenBoosting(loaded.tokenizer)
        words, others = (
            words_of(dataclasses.replace(self.graph, topology=rule), loaded) for rule in RULES
        )
        self.searches = {
            RULES[0]: GraphBoosting(words, options),
            RULES[1]: GraphBoosting(others, options),
            FREE: GraphBoosting(words, options, limited=False),
        }
        some = {
            corpus: recordings(
                SHARED / "speech" / "dev.tsv", chosen.per_corpus, chosen.seed, [corpus]
            )
            for corpus in (ORDERS, WAKES)
        }
        self.heard = {corpus: posteriors(loaded, some[corpus], words) for corpus in some}
        self.in_tokens = posteriors(loaded, some[ORDERS])
        self._dictionary = read_dictionary(chosen.dictionary)
        self._seed: int = chosen.seed

    def lists(self, corpus: str) -> dict[str, BoostList]:
        """By what they are."""
        texts = [each.text for each in self.heard[corpus]]
        true = BoostList.of_texts(texts, self.graph)
        wrong = true.unlike(self.graph, self._dictionary, self._seed)
        overlapping = true.with_sequences(texts, SEQUENCE_WORDS)
        return {
            TRUE: true,
            LONG: true.of_letters(LETTERS),
            WRONG: wrong,
            OVERLAPPING: overlapping,
        }


def orders_part(material: Material, limit: float) -> str:
    """The page's part on coffee orders, and the plot."""
    utterances, lists = material.heard[ORDERS], material.lists(ORDERS)
    found = {
        rule: curves(search, utterances, lists, WEIGHTS)
        for rule, search in material.searches.items()
    }
    plot_curves(RESULTS / "boost_weight.svg", found, limit)
    tables = [
        f"{rule.capitalize()}:\n\n{curve_table(material.searches[rule], utterances, each)}\n"
        for rule, each in found.items()
    ]
    silly = [
        row
        for rule, search in material.searches.items()
        for row in silly_rows(search, rule, utterances, lists)
    ]
    return f"""
## Coffee orders

{described(utterances, lists[TRUE])} The wrong list has as many of both kinds. A list of weight 0
still adds the words that the graph lacks, and those have their limits everywhere.

{chr(10).join(tables)}
### At silly weights

Within the limits nothing changes any more beyond that of the dearest word, and no word pays for
being said again, nor do several of them where phrases overlap.

{table(SILLY_HEADER, silly)}
"""


def no_graph_part(material: Material) -> str:
    """The page's part on the prefix search."""
    utterances, lists = material.in_tokens, material.lists(ORDERS)
    search = material.without_graph
    found = curves(search, utterances, lists, NO_GRAPH_WEIGHTS)
    return f"""
## Coffee orders without a graph

Prefix search over tokens (`lm=off`). No sequence of tokens earns more than {TOKEN_LIMIT:g} nats per
token, however phrases overlap.

{curve_table(search, utterances, found)}

{table(SILLY_HEADER, silly_rows(search, "none", utterances, lists))}
"""


def wakes_part(material: Material) -> str:
    """The page's part on wake phrases."""
    utterances, lists = material.heard[WAKES], material.lists(WAKES)
    search = material.searches[RULES[0]]
    found = curves(search, utterances, {TRUE: lists[TRUE], WRONG: lists[WRONG]}, WAKE_WEIGHTS)
    return f"""
## Wake phrases

{described(utterances, lists[TRUE])} {RULES[0].capitalize()} rule.

{curve_table(search, utterances, found)}
"""


def described(utterances: Sequence[Utterance], true: BoostList) -> str:
    """What was said."""
    names = f":\n{', '.join(true.spelled)}" if true.spelled else ""
    unknown = f"{len(true.spelled) or 'none'} are unknown to the graph{names}."
    return f"{len(utterances)} recordings; {len(true)} words, of which {unknown}"


def main() -> None:
    """Run it; write docs/benchmarks/boost_weight.md and the plot beside it."""
    chosen = arguments()
    torch.set_num_threads(1)
    material = Material(chosen)
    costs = [material.graph.unknown_cost, *unigram_costs(material.graph)[1:]]
    limit = min(BEAM_SHARE * chosen.beam, COST_SHARE * chosen.scale * max(costs))
    body = f"""
Word error rate against boost weight; every word of a list is a phrase of its own, and in one list
so are those that are said in a row. Language model:
{chosen.lm}, its costs multiplied by {chosen.scale:g}. Beam {chosen.beam:g}, max_active
{chosen.max_active:,}; no second pass. Within the limits a word earns at most {COST_SHARE:g} of its
scaled cost as a unigram, that is {limit:.1f} nats for the dearest word, {TOKEN_LIMIT:g} nats per
token, and {BEAM_SHARE:g} of the beam; without them what its weight says.
Percent of words, ± half of the interval of 95 %.

![Error rate by boost weight](boost_weight.svg)
{orders_part(material, limit)}{no_graph_part(material)}{wakes_part(material)}"""
    print(write_report("boost_weight", "Boost weight against word error rate", body.lstrip()))


if __name__ == "__main__":
    main()
