"""Streams decoded with a beam by a transducer's head."""

from collections.abc import Sequence

import torch

from earshot.decoder_kernels.transducer.label_beam import BeamMemory, LabelBeam
from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.parts.transducer_lm import lm_weight_of
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment import Segment
from earshot.streaming.transducer.label_decoder import LabelDecoder
from earshot.streaming.transducer.searched import Hypotheses, Searched, search_over
from earshot.streaming.transducer.told import Told
from earshot.streaming.transducer.transcript import Transcript


class BeamDecoder(LabelDecoder[BeamMemory]):
    """Beam search; a segment's search state are its `Hypotheses`.

    An endpoint leaves the likeliest of them alone: what goes on is what was told. So does a boosted
    word that was told leave those that have it.
    """

    def __init__(
        self, loop: LabelLoop, beam: LabelBeam, tokenizer: Tokenizer, max_streams: int
    ) -> None:
        super().__init__(loop, tokenizer, beam.begin(), max_streams)
        self._beam = beam
        self._taken: list[Searched | None] = [None] * max_streams
        self._told: list[Told[tuple[int, Best]] | None] = [None] * max_streams
        self._last_boosted: list[Told[int] | None] = [None] * max_streams

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The likeliest of each; what all hypotheses begin with is stable."""
        return [self._best(stream) for stream in streams]

    def nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        """All that differ in their texts, the likeliest first; of the others those with words."""
        found = hypotheses_of(stream.segment).transcripts
        order = self._spoken[stream.slot].scores.argsort(descending=True, stable=True)
        return self._spelling.alternatives((found[place] for place in order.tolist()), stream)

    def rest(self, lane: Lane, boundary: int) -> Rest | None:
        """The frames from there on, with the labels that the likeliest hypothesis has in them."""
        stream, searched = lane.stream, _searched(lane)
        encoded = torch.cat((stream.segment.memory()[boundary:], lane.encoded[lane.used :]))
        if not len(encoded):
            return None
        behind = searched.leading.since(lane.used)
        labels = self._leading(stream).then(behind).since(boundary)
        return Rest(encoded, Searched((labels,), (0,), _alone(searched.after)))

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        """Leave the segment the labels of its first frames, and those that lose no half of a word.

        The leading hypothesis stays: between its words the segment is cut.
        """
        found, memory = hypotheses_of(stream.segment), self._spoken[stream.slot]
        places = [
            place
            for place, each in enumerate(found.transcripts)
            if place == memory.leading or not self._cuts_a_word(each, stream, frames)
        ]
        stream.segment.truncate(frames)
        stream.segment.search_state = found.only(places).until(frames)
        self._spoken[stream.slot] = memory.only(places)

    def restart(self, endings: Sequence[Ending]) -> None:
        """After a flush nothing was said; after an endpoint what was told is remembered."""
        super().restart(endings)
        for ending in endings:
            slot = ending.stream.slot
            self._spoken[slot] = _alone(self._spoken[slot])

    def recall(self, stream: ActiveStream, memory: object) -> None:
        """Go on from what was said, of which the segment that has just begun holds nothing."""
        super().recall(stream, memory)
        self._spoken[stream.slot] = _alone(self._spoken[stream.slot])

    def free(self, stream: ActiveStream) -> None:
        """Nothing was said, nothing is boosted, and nothing was taken or told."""
        super().free(stream)
        slot = stream.slot
        self._taken[slot], self._told[slot], self._last_boosted[slot] = None, None, None

    def _walk(self, lanes: Sequence[Lane]) -> None:
        memories = [self._spoken[lane.stream.slot] for lane in lanes]
        usual = self._beam.lm_weight
        weights = [lm_weight_of(lane.stream.config, usual) for lane in lanes]
        search_over(self._beam, lanes, memories, weights)

    def _take(self, lane: Lane) -> None:
        stream, searched = lane.stream, _searched(lane)
        slot, segment = stream.slot, stream.segment
        if self._taken[slot] is searched:
            return
        before = hypotheses_of(segment)
        self._reconsider(lane, before, searched)
        lane.observe(self._evidence(lane, searched.leading))
        found, memory = before.then(searched, lane.used), searched.after
        if stream.boosts.phrases:
            places = found.alike(memory.leading, self._boosted_labels(stream, found, memory))
            found, memory = found.only(places), memory.only(places)
        segment.search_state, self._spoken[slot], self._taken[slot] = found, memory, searched

    def _reconsider(self, lane: Lane, before: Hypotheses, searched: Searched) -> None:
        """Have endpoints hear what comes to lead say its earlier words too."""
        parent = searched.parents[searched.after.leading]
        if not lane.observed and parent != self._spoken[lane.stream.slot].leading:
            evidence = self._evidence(lane, before.transcripts[parent])
            lane.stream.segment.detector.reconsider(evidence)

    def _boosted_labels(self, stream: ActiveStream, found: Hypotheses, memory: BeamMemory) -> int:
        """How many labels of the leading hypothesis there are up to its last boosted word's end."""
        leading, told = found.transcripts[memory.leading], self._last_boosted[stream.slot]
        if told is None or not told.holds(stream, leading):
            labels = self._spelling.boosted_labels(leading, stream)
            told = self._last_boosted[stream.slot] = Told.of(stream, leading, labels)
        return told.answer

    def _cuts_a_word(self, found: Transcript, stream: ActiveStream, frame: int) -> bool:
        """Whether a word has labels before the frame and others from there on, but for marks."""
        told = self._spelling.told(found, stream)
        frames, words = told.frames, told.words
        return any(frames[word.first] < frame <= frames[word.stop - 1] for word in words)

    def _leading(self, stream: ActiveStream) -> Transcript:
        place = self._spoken[stream.slot].leading
        return hypotheses_of(stream.segment).transcripts[place]

    def _best(self, stream: ActiveStream) -> Best:
        found, stable = self._leading(stream), hypotheses_of(stream.segment).stable
        told = self._told[stream.slot]
        if told is None or not told.holds(stream, found) or told.answer[0] != stable:
            best = self._spelling.best(found, stable, stream)
            told = self._told[stream.slot] = Told.of(stream, found, (stable, best))
        return told.answer[1]


def hypotheses_of(segment: Segment) -> Hypotheses:
    """The hypotheses of a segment so far: at its beginning one, of which nothing was heard."""
    found = segment.search_state
    return found if isinstance(found, Hypotheses) else Hypotheses()


def _searched(lane: Lane) -> Searched:
    assert isinstance(lane.output, Searched)
    return lane.output


def _alone(memory: BeamMemory) -> BeamMemory:
    return memory.alone(memory.leading)
