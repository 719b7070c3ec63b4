"""Claim: a language model in the first pass lowers the word error rate; by topology and by corpus.

Table 1 of Galvez & Kaldewey 2023 (arXiv:2311.04996) in small: CTC greedy, prefix beam search, and
graph search with the "compact" and the "normal" rule, all on the same posteriors of the bundled
model (chunk-masked, which equals streaming) over the development recordings. The image is made by
``earshot graph build`` of a language model that has not read them. No second pass.
"""

import argparse
import dataclasses
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import jiwer
import torch
from report import SHARED, table, write_report
from torch import Tensor

from decoder_kernels.graph import Graph
from decoder_kernels.graph_image import read_image
from decoder_kernels.prefix_search import PrefixSearch, PrefixSearchConfig
from decoder_kernels.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from models.bundled import bundled_model_dir
from models.checkpoint import LoadedModel, load_model
from models.training.batch import pad
from models.training.greedy import collapse, length_batches
from models.training.speech import Speech, load_speech

Decode = Callable[[Tensor], str]
SLOT = torch.tensor([0])


def posteriors(loaded: LoadedModel, speech: Speech) -> Iterator[tuple[int, Tensor]]:
    """Each recording's index and log-probabilities ``(T, V)``; too short ones are left out."""
    least = loaded.model.encoder.right_context + 1
    chunk_size = loaded.model.config.decoding.chunk_size
    counts = [speech.frame_count(index) for index in range(len(speech))]
    for batch in length_batches(counts):
        usable = [index for index in batch if counts[index] >= least]
        if not usable:
            continue
        padded = pad([speech.features(index) for index in usable], [[] for _ in usable])
        with torch.inference_mode():
            encoded, lengths = loaded.model.encoder(
                padded.features, padded.feature_lengths, chunk_size, -1
            )
            rows = loaded.model.ctc_log_probs(encoded).float()
        for index, row, length in zip(usable, rows, lengths.tolist(), strict=True):
            yield index, row[:length].clone()


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
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=options.max_active), 1)
    search.set_options(0, options)

    def decode(rows: Tensor) -> str:
        search.reset(SLOT)
        search.advance(SLOT, rows[None], torch.tensor([len(rows)]))
        words = search.best(SLOT, finalize=True)[0].hypothesis.words
        return " ".join(graph.word_texts[word] for word in words)

    return decode


class Arm:
    """A decoder, its texts by corpus, and the time it took."""

    def __init__(self, name: str, decode: Decode) -> None:
        self.name = name
        self._decode = decode
        self._texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.seconds = 0.0
        self.frames = 0

    def take(self, corpus: str, truth: str, rows: Tensor) -> None:
        """Decode a recording."""
        began = time.perf_counter()
        self._texts[corpus].append((truth, self._decode(rows)))
        self.seconds += time.perf_counter() - began
        self.frames += len(rows)

    def row(self, corpora: list[str]) -> list[str]:
        """Its line of the table: error rates, and microseconds per frame."""
        rates = []
        for corpus in corpora:
            truths, texts = zip(*self._texts[corpus], strict=True)
            rates.append(f"{100 * jiwer.wer(list(truths), list(texts)):.1f}")
        return [self.name, *rates, f"{1e6 * self.seconds / self.frames:.0f}"]


def main() -> None:
    """Run it and write docs/benchmarks/graph_wer.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", type=Path, help="built with --topology compact or normal")
    parser.add_argument("--lm", required=True, help="what the language model is, for the page")
    parser.add_argument("--beam", type=float, default=12.0)
    parser.add_argument("--max-active", type=int, default=3000)
    parser.add_argument("--scales", type=float, nargs="+", default=[0.3, 0.6, 1.0])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    loaded, graph = load_model(bundled_model_dir()), read_image(arguments.image)
    arms = [Arm("greedy", greedy(loaded)), Arm("prefix beam search", prefix(loaded))]
    for topology in ("compact", "normal"):
        form = dataclasses.replace(graph, topology=topology)
        for scale in arguments.scales:
            options = WfstOptions(
                beam=arguments.beam, max_active=arguments.max_active, graph_scale=scale
            )
            arms.append(Arm(f"{topology}, graph scale {scale:g}", wfst(form, options)))
    with tempfile.TemporaryDirectory() as cache:
        speech = load_speech(SHARED / "speech" / "dev.tsv", Path(cache)).transcribed()
        for index, rows in posteriors(loaded, speech):
            said = speech.utterances[index]
            for arm in arms:
                arm.take(said.corpus, said.text, rows)
    corpora = sorted({said.corpus for said in speech.utterances})
    body = f"""
All development recordings with a transcript, chunks of {loaded.model.config.decoding.chunk_size}
frames, no second pass. Language model: {arguments.lm}; graph of {graph.num_nodes} nodes and
{graph.num_arcs} arcs, {len(graph.word_texts) - 1} words. Beam {arguments.beam:g}, max_active
{arguments.max_active}, the language model's weight as said. Percent of words; microseconds per
frame of 60 ms on one thread, decoder only.

{table(["decoder", *corpora, "us per frame"], [arm.row(corpora) for arm in arms])}
"""
    print(body)
    print(write_report("graph_wer", "Word error rate with a language model", body.lstrip()))


if __name__ == "__main__":
    main()
