"""Claim: a small graph that asks a large model errs less than flashlight, in less of its time.

``pip install --no-deps flashlight-text kenlm``, then ``python -m
benchmarks.large_lm.beside_flashlight CACHE --small SMALL.arpa.gz --large LARGE.arpa.gz``. ``CACHE``
is a folder that keeps the graph of the small model and the image of the large one.

The bundled model's posteriors over recordings. flashlight's lexicon decoder asks all of the large
model, through KenLM; ours searches a graph of the small one of the same words and texts, and asks
the large one where a word ends, with the service's limits. The same spelling of each word, in the
model's own units, one process with one thread; the decoders take turns at each recording; times are
of the CPU, of the search and of its best text. Beams of both are of another kind, so settings are
compared by error rate: flashlight's are hypotheses / tokens per frame / threshold. Its lexicon
decoder cannot stay in the last token of a word for a second frame, so it errs more with the same
model.
"""

import argparse
import dataclasses
import time
from collections.abc import Sequence

import jiwer
import torch

from benchmarks.large_lm.small_and_large import CORPORA, SEED, SmallAndLarge, add_arguments
from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.wfst.arms import Arm, Outcome, take_turns, timed, times_slower
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.posteriors import Utterance, total_frames
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.graph_config import GraphSearchConfig

try:
    from benchmarks.peers import flashlight
except ModuleNotFoundError as error:
    raise SystemExit(
        f"{error.name} is missing: pip install --no-deps flashlight-text kenlm"
    ) from error

CHUNK_FRAMES = 8
LISTED = 10
OUR_BEAMS = ((4.0, 100), (6.0, 300), (8.0, 500), (12.0, 1_000), (12.0, 3_000))
THEIR_BEAMS = ((32, 16, 10.0), (100, 32, 12.0), (200, 32, 15.0), (500, 32, 20.0))
HEADER = ("decoder", "word errors, %", "ms a frame", "times slower than ours that errs no more")


class Ours:
    """Our search with a large model; flashlight's rule is CTC's, with blank between alike."""

    def __init__(self, models: SmallAndLarge, limits: GraphSearchConfig, scale: float) -> None:
        self._graph: Graph = dataclasses.replace(models.graph, topology="normal")
        texts = models.graph.word_texts
        self._lm = SearchLm(
            NumberedLm.of(models.small, texts), [NumberedLm.of(models.large, texts)], (1.0,), scale,
            gain_limit=limits.lm_gain_limit, history_beam=limits.lm_history_beam,
        )  # fmt: skip

    def arm(self, beam: float, max_active: int) -> Arm:
        """In chunks, to the best of a list as the service makes one."""
        search, slot = WfstSearch(self._graph, WfstSearchConfig(max_active), 1), torch.tensor([0])
        options = WfstOptions(beam=beam, max_active=max_active, graph_scale=self._lm.scale)
        search.set_options(0, options)
        search.set_lm(0, self._lm)

        def outcome(utterance: Utterance) -> Outcome:
            search.reset(slot)
            rows = torch.from_numpy(utterance.log_probs)
            began = time.process_time()
            for part in rows.split(CHUNK_FRAMES):
                search.advance(slot, part[None], torch.tensor([len(part)]))
            [listed] = search.nbest([0], LISTED)
            best = listed[0] if listed else search.best(slot, finalize=True)[0].hypothesis
            seconds = time.process_time() - began
            text = " ".join(self._graph.word_texts[word] for word in best.words)
            return Outcome(seconds, best.cost, text)

        return Arm(f"ours, {beam:g} / {max_active:,}", outcome, search.overflows)


def their_arm(
    lexicon: flashlight.FlashlightLexicon, beam: tuple[int, int, float], scale: float, blank: int
) -> Arm:
    """Flashlight on whole recordings: it takes no chunks."""
    settings = flashlight.FlashlightBeam(*beam)
    decoder = flashlight.FlashlightSearch(lexicon, settings, scale, blank)
    name = f"flashlight, {settings.size} / {settings.tokens} / {settings.threshold:g}"
    return timed(name, lambda each: (0.0, decoder.decode(each.log_probs)))


def rows(ours: Sequence[Arm], theirs: Sequence[Arm], heard: Sequence[Utterance]) -> list[list[str]]:
    """Lines of the table."""
    said = [each.text for each in heard]
    measured = {
        arm.name: (100 * jiwer.wer(said, arm.texts()), arm.ms_per_frame(heard))
        for arm in (*theirs, *ours)
    }
    reached = [measured[arm.name] for arm in ours]
    ratios = {arm.name: times_slower(measured[arm.name], reached) for arm in theirs}
    return [
        [name, f"{wer:.2f}", f"{took:.3f}", ratios.get(name, "")]
        for name, (wer, took) in measured.items()
    ]


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--lm-weight", type=float, default=0.3, help="of both")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    models = SmallAndLarge.of(asked)
    loaded = load_model(bundled_model_dir())
    chosen = recordings(SHARED / "speech" / "dev.tsv", asked.per_corpus, SEED, CORPORA)
    heard = posteriors(loaded, chosen)
    texts = models.graph.word_texts[1:]
    spellings = {text: loaded.tokenizer.encode(text) for text in texts}
    lexicon = flashlight.FlashlightLexicon(models.arpa, spellings, models.graph.vocab_size)
    limits, weight = GraphSearchConfig(), asked.lm_weight
    ours = Ours(models, limits, weight)
    mine = [ours.arm(*beam) for beam in OUR_BEAMS]
    blank = models.graph.blank_id
    theirs = [their_arm(lexicon, beam, weight, blank) for beam in THEIR_BEAMS]
    take_turns([*theirs, *mine], heard, 1)
    body = f"""{below_claim(__doc__)}

{len(heard)} recordings of {total_frames(heard):,} frames; {models.sizes}, at a weight of
{weight:g}; for our search a history beam of {limits.lm_history_beam:g} and a gain limit of
{limits.lm_gain_limit:g} nats.

{table(HEADER, rows(mine, theirs, heard))}
"""
    title = "A large model: our search beside flashlight's"
    show_report("beside_flashlight", title, body, is_written=asked.write)


if __name__ == "__main__":
    main()
