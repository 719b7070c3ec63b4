"""Incremental features: the same frames however the samples are cut."""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from earshot.streaming.samples import Samples
from earshot.streaming.stream.replay import TrackPoint


class FeatureExtractor(Protocol):
    """The way from samples to features of a model; frames depend on their samples alone.

    frame_length, frame_shift: in samples. before: of a frame's samples, those before its place,
    which is `frame_shift` times its number; a track begins with zeros there. closing: samples
    behind a track's end, which `silence_after` makes, so that its last frames are whole.
    sample_scale: what samples in [-1, 1] are multiplied by.
    """

    frame_length: int
    frame_shift: int
    before: int
    closing: int
    sample_scale: float

    @property
    def size(self) -> int:
        """F."""

    def silence_after(self, last: Tensor, count: int) -> Tensor:
        """Scaled samples `(count,)` that stand for none after a track's last one `()`."""

    def of_frames(self, frames: Tensor) -> Tensor:
        """Frames of scaled samples `(N, frame_length)` to features `(N, F)`."""

    def quietest(self, features: Tensor) -> Tensor:
        """The frame `(F,)` of features `(N, F)` that is nearest to silence; there are some."""


class SampleBuffer:
    """A queue of samples addressed by position; it forgets what lies before a given one."""

    def __init__(self, start: int = 0) -> None:
        self._pieces: deque[Samples] = deque()
        self._start = start
        self.end = start

    def append(self, samples: Samples) -> None:
        """Add samples `(N,)` at the end."""
        if len(samples):
            self._pieces.append(samples)
            self.end += len(samples)

    def read(self, start: int, stop: int) -> Samples:
        """Copy the samples `start` to `stop` (exclusive); both must be kept."""
        assert self._start <= start <= stop <= self.end
        wanted, position = [], self._start
        for piece in self._pieces:
            if position >= stop:
                break
            wanted.append(piece[max(start - position, 0) : stop - position])
            position += len(piece)
        return np.concatenate(wanted) if wanted else np.zeros(0, np.float32)

    def drop_before(self, start: int) -> None:
        """Forget whole pieces that lie before `start`."""
        while self._pieces and self._start + len(self._pieces[0]) <= start:
            self._start += len(self._pieces.popleft())


class FeatureTrack:
    """The features of one stream from a sample on, as far as they are needed.

    Frames are counted from the track's first sample, which is sample `origin` of the stream. The
    track's audio comes after `lead_in` frames of digital silence, whose samples count as its own;
    what a flush adds is the frame `flush_frame` `(F,)`, or else the quietest that was heard.
    Frames are computed late, for all lanes of a step together (`compute_frames`), and `kept_frames`
    of them are kept behind the newest so that a boundary can be replayed.
    """

    def __init__(
        self,
        extractor: FeatureExtractor,
        start: int,
        kept_frames: int,
        lead_in: int = 0,
        flush_frame: Tensor | None = None,
    ) -> None:
        self._extractor = extractor
        self._samples = SampleBuffer()
        self._lead_in = lead_in
        self._flush_frame = flush_frame
        self.start = start
        self.origin = start - lead_in * extractor.frame_shift
        self._samples.append(np.zeros(extractor.before + start - self.origin, np.float32))
        self._closing = 0
        self._kept_frames = kept_frames
        self._features = torch.zeros(0, extractor.size)
        self._first_frame = 0
        self._padding = 0
        self.ended = False

    def point(self, first_frame: int | None = None) -> TrackPoint:
        """Where the track stands: with the frames that are kept, or to compute from a frame on."""
        computed = self.computed if first_frame is None else first_frame
        first = self._first_frame if first_frame is None else first_frame
        before = self._extractor.before
        sample = max(self.origin + computed * self._extractor.frame_shift - before, self.start)
        # A copy: a view would be pickled with all that it is a view of.
        kept = self._features[: computed - first].clone()
        return TrackPoint(self.start, self.origin, sample, first, kept)

    def resume(self, point: TrackPoint) -> None:
        """Stand where another track of the same settings has stood, before any sample."""
        self.start, self.origin = point.start, point.origin
        self._features, self._first_frame = point.features.clone(), point.first_frame
        needed = self.computed * self._extractor.frame_shift
        silent = max(point.sample - self.origin + self._extractor.before - needed, 0)
        self._samples = SampleBuffer(needed)
        self._samples.append(np.zeros(silent, np.float32))

    def keep(self, frames: int) -> None:
        """Keep so many frames behind the newest from now on."""
        self._kept_frames = frames

    @property
    def num_samples(self) -> int:
        """Samples so far."""
        return self._samples.end - self._extractor.before - self._closing

    @property
    def available(self) -> int:
        """Frames that can be asked for."""
        return self.heard + self._padding

    @property
    def heard(self) -> int:
        """Frames whose samples are all here; none before there is a frame of audio."""
        in_lead_in = self.start - self.origin
        if not self._whole_frames(self._samples.end - in_lead_in):
            return 0
        return self._whole_frames(self._samples.end)

    def frames_before(self, frame: int) -> int:
        """Frames all of whose samples lie before a frame's place."""
        return self._whole_frames(frame * self._extractor.frame_shift + self._extractor.before)

    def _whole_frames(self, num_samples: int) -> int:
        """Frames of so many samples, those before the first frame's place among them."""
        behind = num_samples - self._extractor.frame_length
        return 0 if behind < 0 else 1 + behind // self._extractor.frame_shift

    @property
    def computed(self) -> int:
        """Frames of samples that have been computed."""
        return self._first_frame + len(self._features)

    @property
    def kept(self) -> int:
        """Frames in memory."""
        return len(self._features)

    @property
    def consumed_samples(self) -> int:
        """Samples that no frame to come needs; never more than were appended."""
        start = self.computed * self._extractor.frame_shift - self._extractor.before
        return max(min(start, self.num_samples), 0)

    def samples_for(self, frames: int) -> int:
        """Samples of the track that its first `frames` frames need."""
        after = self._extractor.frame_length - self._extractor.before
        return (frames - 1) * self._extractor.frame_shift + after

    def append(self, samples: Samples) -> None:
        """Add samples `(N,)` in [-1, 1]."""
        assert not self.ended
        self._samples.append(samples * np.float32(self._extractor.sample_scale))

    def end(self, padding: int) -> None:
        """No more samples will come; `padding` quiet frames let the last word come out."""
        if self._extractor.closing:
            self._close()
        self._padding = padding if self.heard else 0
        self.ended = True

    def _close(self) -> None:
        last = torch.from_numpy(self._samples.read(self._samples.end - 1, self._samples.end))
        silence = self._extractor.silence_after(last[0], self._extractor.closing)
        self._samples.append(silence.numpy())
        self._closing = len(silence)

    def missing(self, frames: int) -> Tensor:
        """The raw frames `(N, frame_length)` that are not yet computed, up to frame `frames`."""
        frames = min(frames, self.heard)
        shift, length = self._extractor.frame_shift, self._extractor.frame_length
        if frames <= self.computed:
            return torch.zeros(0, length)
        samples = self._samples.read(self.computed * shift, (frames - 1) * shift + length)
        return torch.from_numpy(samples).unfold(0, length, shift)

    def store(self, features: Tensor) -> None:
        """Take the features `(N, F)` of what `missing` gave; forget what no replay can need."""
        kept = torch.cat((self._features, features))
        dropped = max(len(kept) - self._kept_frames, 0)
        self._features = kept[dropped:].clone() if dropped else kept
        self._first_frame += dropped
        self._samples.drop_before(self.computed * self._extractor.frame_shift)

    def window(self, start: int, frames: int, segment_start: int) -> Tensor:
        """Features `(frames, F)` from `start` on, of the segment that began at `segment_start`.

        What lies behind the last sample is the track's `flush_frame`, or the quietest of the
        segment's kept frames.
        """
        assert start >= self._first_frame, "the frame has been dropped"
        window = self._features[start - self._first_frame :][:frames]
        if len(window) == frames:
            return window
        quiet = self._flush_frame
        if quiet is None:
            quiet = self._quietest(max(segment_start, self._lead_in))
        return torch.cat((window, quiet.expand(frames - len(window), -1)))

    def _quietest(self, start: int) -> Tensor:
        """The quietest of the kept frames from `start` on.

        Digital silence after a noisy room is a sound of its own, to which a model that was not
        trained with it may answer with a word.
        """
        return self._extractor.quietest(self._features[max(start - self._first_frame, 0) :])


def compute_frames(extractor: FeatureExtractor, raw: Sequence[Tensor]) -> list[Tensor]:
    """Features `(N_i, F)` of many tracks' raw frames `(N_i, frame_length)`, in one batch."""
    counts = [len(frames) for frames in raw]
    if sum(counts) == 0:
        return [torch.zeros(0, extractor.size) for _ in raw]
    return list(torch.split(extractor.of_frames(torch.cat(list(raw))), counts))
