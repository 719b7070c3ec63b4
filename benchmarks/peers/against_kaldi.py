"""Our search and Kaldi's decoders on one TLG: as it is, and as `earshot graph import` has it."""

from collections.abc import Sequence

from benchmarks.peers import kaldi
from benchmarks.wfst.arms import Arm, against, ours, take_turns, timed
from benchmarks.wfst.graph_files import GraphFiles
from benchmarks.wfst.ours import NEXT_TO_NO_ALTERNATIVES
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions

BEAMS = ((17.0, 10_000), (12.0, 3_000))
LATTICE_BEAM = 8.0
CHUNK_FRAMES = 8
HEADER = (
    "posteriors", "beam / max_active", "decoder", "ms per frame", "times real time",
    "times FasterDecoder", "tokens per frame", "paths cheaper / equal / dearer", "frames lost",
)  # fmt: skip


class KaldiComparison:
    """The graphs of the comparison, read once."""

    def __init__(self, files: GraphFiles) -> None:
        self._explicit, self._imported = files.explicit(), files.imported()
        self._peers = kaldi.read_graph(files.openfst())

    def rows(
        self, what: str, utterances: Sequence[Utterance], frame_ms: float, rounds: int
    ) -> list[list[str]]:
        """Lines of the table, at each beam."""
        return [
            row
            for beam, max_active in BEAMS
            for row in self._at_beam(what, utterances, frame_ms, rounds, beam, max_active)
        ]

    def _at_beam(
        self,
        what: str,
        utterances: Sequence[Utterance],
        frame_ms: float,
        rounds: int,
        beam: float,
        max_active: int,
    ) -> list[list[str]]:
        arms = self._arms(beam, max_active)
        take_turns(arms, utterances, rounds)
        peer = arms[0]
        rows = []
        for arm in arms:
            took = arm.ms_per_frame(utterances)
            rows.append([
                what, f"{beam:g} / {max_active:,}", arm.name, f"{took:.3f}",
                f"{frame_ms / took:,.0f}", f"{peer.ms_per_frame(utterances) / took:.1f}",
                arm.mean_tokens(), against(arm.costs(), peer.costs()), str(arm.lost_frames()),
            ])  # fmt: skip
            print("  ".join(rows[-1]), flush=True)
        return rows

    def _arms(self, beam: float, max_active: int) -> list[Arm]:
        """FasterDecoder first."""

        def options(lattice_beam: float) -> WfstOptions:
            return WfstOptions(beam=beam, max_active=max_active, lattice_beam=lattice_beam)

        best, several = options(NEXT_TO_NO_ALTERNATIVES), options(LATTICE_BEAM)
        faster = kaldi.faster_decoder(self._peers, beam, max_active)
        arms = [timed("FasterDecoder", lambda each: (faster.decode(each.log_probs), ""))]
        if (beam, max_active) == BEAMS[-1]:  # it knows no max_active: too slow at the wide beam
            lattice = kaldi.lattice_decoder(self._peers, beam, LATTICE_BEAM)
            name = "LatticeSimpleDecoder, alternatives"
            arms.append(timed(name, lambda each: (lattice.decode(each.log_probs), "")))
        for form, graph in (("explicit", self._explicit), ("imported", self._imported)):
            arms += [
                ours(f"ours, {form}", graph, best, CHUNK_FRAMES),
                ours(f"ours, {form}, whole", graph, best, None),
                ours(f"ours, {form}, alternatives", graph, several, CHUNK_FRAMES),
            ]
        return arms
