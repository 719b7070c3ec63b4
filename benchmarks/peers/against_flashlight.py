"""Our search and flashlight's lexicon decoder with one language model, by error rate and time."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import jiwer

from benchmarks.peers import flashlight
from benchmarks.wfst.arms import Arm, ours, take_turns, timed, times_slower
from benchmarks.wfst.ours import NEXT_TO_NO_ALTERNATIVES
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions

OUR_BEAMS = ((2.0, 20), (3.0, 30), (3.5, 60), (4.0, 100), (6.0, 300), (8.0, 1_000))
THEIR_BEAMS = ((16, 8, 10.0), (32, 16, 10.0), (100, 32, 12.0), (200, 32, 15.0))
HEADER = ("scale", "decoder", "WER", "ms per frame", "times slower than ours at its WER")


class FlashlightComparison:
    """Both decoders over one set of recordings."""

    def __init__(
        self,
        arpa: Path,
        graph: Graph,
        spellings: Mapping[str, Sequence[int]],
        utterances: Sequence[Utterance],
    ) -> None:
        # Its rule is the normal one: a blank between two of the same token.
        self._graph = dataclasses.replace(graph, topology="normal")
        self._lexicon = flashlight.FlashlightLexicon(arpa, spellings, graph.vocab_size)
        self._utterances = utterances

    def rows(self, scale: float) -> list[list[str]]:
        """Lines of the table, with the language model's costs multiplied by ``scale``."""
        theirs = [self._theirs(beam, scale) for beam in THEIR_BEAMS]
        mine = [self._mine(beam, max_active, scale) for beam, max_active in OUR_BEAMS]
        take_turns([*theirs, *mine], self._utterances, 1)
        measured = [self._measured(arm) for arm in mine]
        rows = [
            self._row(scale, arm, times_slower(self._measured(arm), measured)) for arm in theirs
        ]
        rows += [self._row(scale, arm, "") for arm in mine]
        for row in rows:
            print("  ".join(row), flush=True)
        return rows

    def _theirs(self, beam: tuple[int, int, float], scale: float) -> Arm:
        settings = flashlight.FlashlightBeam(*beam)
        decoder = flashlight.FlashlightSearch(self._lexicon, settings, scale, self._graph.blank_id)
        name = f"flashlight, {settings.size} / {settings.tokens} / {settings.threshold:g}"
        return timed(name, lambda each: (0.0, decoder.decode(each.log_probs)))

    def _mine(self, beam: float, max_active: int, scale: float) -> Arm:
        options = WfstOptions(
            beam=beam,
            max_active=max_active,
            lattice_beam=NEXT_TO_NO_ALTERNATIVES,
            graph_scale=scale,
        )
        return ours(f"ours, {beam:g} / {max_active:,}", self._graph, options, None)

    def _measured(self, arm: Arm) -> tuple[float, float]:
        """Word error rate in percent, and milliseconds per frame."""
        said = [each.text for each in self._utterances]
        return 100 * jiwer.wer(said, arm.texts()), arm.ms_per_frame(self._utterances)

    def _row(self, scale: float, arm: Arm, ratio: str) -> list[str]:
        wer, took = self._measured(arm)
        return [f"{scale:g}", arm.name, f"{wer:.1f}", f"{took:.3f}", ratio]
