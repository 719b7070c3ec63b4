"""Claim: lists that a large model ranks are in the order, and have the costs, that KenLM gives.

``pip install --no-deps kenlm``, then ``python -m benchmarks.large_lm.rescored_lists CACHE --small
SMALL.arpa.gz --large LARGE.arpa.gz``; ``CACHE`` is that of ``beside_flashlight``.

Of each recording the texts that a search of the small model's graph lists, a thousand at most, and
what the service adds to their costs for the large model (`ListPrices`). KenLM, which reads the
large model's ARPA file, says what it should be: its cost of the text in place of the graph's own.
Numbers of an image are whole steps of 2^-10 nat: each probability and each back-off may be half a
step away, and two texts change places that cost the same but for so much.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.large_lm.small_and_large import CORPORA, SEED, SmallAndLarge, add_arguments
from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.wfst.bundled import posteriors, recordings
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordTexts
from earshot.decoder_kernels.wfst.wfst_search import WfstHypothesis, WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.list_prices import ListPrices

try:
    import kenlm
except ModuleNotFoundError as error:
    raise SystemExit("kenlm is missing: pip install --no-deps kenlm") from error

MOST = 1_000
HALF_STEP = 2.0**-11
LATTICE_BEAM = 12.0
"""In nats: wide enough for lists of a thousand."""

Costs = npt.NDArray[np.float64]


@dataclass
class Compared:
    """Texts, how far both costs of one are apart at most, and pairs in another order.

    order: a word costs a probability and as many back-offs as the model's order has room for.
    """

    order: int
    recordings: int = 0
    lists: int = 0
    texts: int = 0
    words: int = 0
    apart: float = 0.0
    beyond: int = 0
    swapped: int = 0
    first_differs: int = 0

    def add(self, mine: Costs, theirs: Costs, words: Sequence[int]) -> None:
        """One list. words: of each text, with the end of its sentence."""
        may = HALF_STEP * self.order * np.asarray(words, np.float64)
        self.lists += 1
        self.texts += len(words)
        self.words += sum(words)
        self.apart = max(self.apart, float(np.abs(mine - theirs).max()))
        self.beyond += int(np.count_nonzero(np.abs(mine - theirs) > may))
        order = np.argsort(mine, kind="stable")
        steps = np.diff(theirs[order])
        self.swapped += int(np.count_nonzero(steps < -(may[order][1:] + may[order][:-1])))
        self.first_differs += int(np.argmin(mine) != np.argmin(theirs))


def kenlm_costs(model: kenlm.Model, texts: Sequence[str]) -> Costs:
    """Of whole sentences, in nats."""
    return np.array([-model.score(text, bos=True, eos=True) * math.log(10.0) for text in texts])


def small_costs(models: SmallAndLarge, found: Sequence[WfstHypothesis]) -> Costs:
    """What the graph's own model has said of texts, in nats."""
    listed = [(*(models.graph.word_texts[word] for word in each.words),) for each in found]
    places, names = np.arange(sum(map(len, listed))), [word for text in listed for word in text]
    ends = np.cumsum([len(text) for text in listed])
    return MixedLm((models.small,), (1.0,)).costs(WordTexts(names, places, ends).closed())


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    models = SmallAndLarge.of(asked)
    loaded = load_model(bundled_model_dir())
    chosen = recordings(SHARED / "speech" / "dev.tsv", asked.per_corpus, SEED, CORPORA)
    limits = GraphSearchConfig().of(loaded.model.config.decoding)
    assert limits.lm_weight is not None
    scale = limits.lm_weight
    search, slot = WfstSearch(models.graph, WfstSearchConfig(), 1), torch.tensor([0])
    search.set_options(0, WfstOptions(lattice_beam=LATTICE_BEAM, graph_scale=scale))
    prices, mix = ListPrices(models.graph), MixedLm((models.large,), (1.0,))
    model, compared = kenlm.Model(str(models.arpa)), Compared(models.large.order)
    for each in posteriors(loaded, chosen):
        search.reset(slot)
        rows = torch.from_numpy(each.log_probs)
        search.advance(slot, rows[None], torch.tensor([len(rows)]))
        [listed] = search.nbest([0], MOST)
        compared.recordings += 1
        if not listed:
            continue  # such a list would take too long: told by the columns
        costs = np.array([text.cost for text in listed])
        added = np.array(prices.of(mix, [text.words for text in listed], ended=True))
        texts = [" ".join(models.graph.word_texts[w] for w in text.words) for text in listed]
        wanted = kenlm_costs(model, texts) - small_costs(models, listed)
        lengths = [len(text.words) + 1 for text in listed]
        compared.add(costs / scale + added, costs / scale + wanted, lengths)
    header = (
        "recordings", "lists", "texts", "words", "most nats apart", "further apart than rounding",
        "neighbours in the other order beyond rounding", "another text is first",
    )  # fmt: skip
    line = [f"{compared.recordings:,}", f"{compared.lists:,}", f"{compared.texts:,}"]
    line += [f"{compared.words:,}"]
    line += [f"{compared.apart:.4f}", f"{compared.beyond:,}", f"{compared.swapped:,}"]
    line += [f"{compared.first_differs:,}"]
    body = f"{below_claim(__doc__)}\n\n{models.sizes}.\n\n{table(header, [line])}\n"
    show_report("rescored_lists", "Lists ranked as KenLM would", body, is_written=asked.write)


if __name__ == "__main__":
    main()
