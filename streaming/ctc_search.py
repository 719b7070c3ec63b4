"""The search part of the first pass: CTC prefix beam search, or greedy search, for all lanes."""

from collections.abc import Sequence

import torch
from torch import Tensor

from decoder_kernels.prefix_search import PrefixHypothesis, PrefixSearch
from models.u2 import U2Model
from streaming.active_stream import ActiveStream
from streaming.boosting import CompiledBoosts
from streaming.greedy import GreedySearch
from streaming.lane import Lane


class CtcSearch:
    """Both searches behind one face. A stream's search lives in its slot until its segment ends."""

    def __init__(self, model: U2Model, search: PrefixSearch, device: torch.device) -> None:
        self._model = model
        self._search = search
        self._device = device

    @property
    def overflows(self) -> int:
        """How often a search ran out of room and dropped a hypothesis it would have kept."""
        return self._search.overflows()

    def advance(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' new frames; each segment already holds them (`Segment.frames`)."""
        beams = [lane for lane in lanes if lane.stream.searches and lane.used]
        if beams:
            self._advance_beams(beams)
        for lane in lanes:
            if not lane.stream.searches and lane.used:
                tokens, log_probs = lane.posteriors.tokens, lane.posteriors.log_probs
                lane.stream.segment.greedy.advance(tokens[: lane.used], log_probs[: lane.used])

    def rewind(self, stream: ActiveStream) -> None:
        """Search the segment's frames anew: they became fewer, or the boosts others."""
        memory = stream.segment.memory() if stream.segment.frames else None
        self.restart([stream])
        if memory is None:
            return
        log_probs = self._model.ctc_log_probs(memory).float()
        if stream.searches:
            lengths = torch.tensor([len(memory)], device=self._device)
            self._search.advance(self._slots([stream]), log_probs[None].contiguous(), lengths)
        else:
            best_log_probs, best = log_probs.max(dim=-1)
            stream.segment.greedy.advance(best.tolist(), best_log_probs.tolist())

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """Forget the segments of these streams; boosts stay."""
        if streams:
            self._search.reset(self._slots(streams))
        for stream in streams:
            stream.segment.greedy = GreedySearch(self._model.config.blank_id)

    def boost(self, slot: int, boosts: CompiledBoosts) -> None:
        """Use these boosts in a slot whose search is then restarted or rewound.

        Raises CapacityExceeded when the boosts of all streams do not fit together.
        """
        self._search.set_boost(slot, boosts.table)

    def best(self, streams: Sequence[ActiveStream]) -> list[tuple[PrefixHypothesis, int]]:
        """The best hypothesis of each stream, and how many of its tokens every other one shares."""
        beams = [stream for stream in streams if stream.searches]
        found = iter(self._search.best(self._slots(beams)) if beams else [])
        results = []
        for stream in streams:
            if stream.searches:
                result = next(found)
                results.append((result.hypothesis, result.stable_length))
            else:
                hypothesis = stream.segment.greedy.hypothesis()
                results.append((hypothesis, len(hypothesis.tokens)))
        return results

    def nbest(self, stream: ActiveStream, count: int) -> list[PrefixHypothesis]:
        """Up to `count` hypotheses, best first."""
        if not stream.searches:
            return [stream.segment.greedy.hypothesis()]
        return self._search.nbest(stream.slot, count)

    def _advance_beams(self, lanes: Sequence[Lane]) -> None:
        longest = max(lane.used for lane in lanes)
        vocab_size = lanes[0].log_probs.size(1)
        batch = torch.zeros(len(lanes), longest, vocab_size, device=self._device)
        for row, lane in enumerate(lanes):
            batch[row, : lane.used] = lane.log_probs[: lane.used]
        lengths = torch.tensor([lane.used for lane in lanes], device=self._device)
        self._search.advance(self._slots([lane.stream for lane in lanes]), batch, lengths)

    def _slots(self, streams: Sequence[ActiveStream]) -> Tensor:
        return torch.tensor([stream.slot for stream in streams], device=self._device)
