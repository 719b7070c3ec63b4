"""Posteriors of the bundled model over recordings, as it computes them while streaming."""

import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from benchmarks.wfst.posteriors import Utterance
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.search.search_frames import SearchFrames, TokenFrames, frames_of
from earshot.streaming.words.graph_words import GraphWords
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.corpus.utterance import Utterance as Recording
from earshot.training.data.batch import pad
from earshot.training.data.feature_cache import build_feature_cache
from earshot.training.data.speech import Source, Speech
from earshot.training.measuring.greedy import length_batches


def recordings(
    manifest: Path,
    per_corpus: int | None,
    seed: int,
    corpora: Iterable[str] | None = None,
    *,
    aside: bool = False,
) -> list[Recording]:
    """Recordings with a transcript, of these corpora, at most so many of each, drawn at random.

    aside: those that are put aside instead of those that may be looked at.
    """
    by_corpus: dict[str, list[Recording]] = {}
    for each in read_dev_speech(manifest, aside):
        if each.text and (corpora is None or each.corpus in set(corpora)):
            by_corpus.setdefault(each.corpus, []).append(each)
    rng = random.Random(seed)
    chosen: list[Recording] = []
    for corpus in sorted(by_corpus):
        found = by_corpus[corpus]
        count = len(found) if per_corpus is None else min(per_corpus, len(found))
        chosen += rng.sample(found, count)
    return chosen


def posteriors(
    loaded: LoadedModel, chosen: Sequence[Recording], words: GraphWords | None = None
) -> list[Utterance]:
    """Of each recording, in order of length; those too short for one frame are left out.

    Of tokens, or of what the words of a graph are spelled in.
    """
    frames = TokenFrames(loaded.model) if words is None else frames_of(words, loaded.model)
    with tempfile.TemporaryDirectory() as cache:
        features = build_feature_cache(Path(cache), list(chosen), loaded.model.config.features)
        speech = Speech(chosen, [Source(features, index) for index in range(len(chosen))])
        return list(_posteriors(loaded, speech, frames))


@torch.inference_mode()
def _posteriors(loaded: LoadedModel, speech: Speech, frames: SearchFrames) -> Iterator[Utterance]:
    """Chunk-masked, which equals streaming."""
    encoder = loaded.model.encoder
    chunk_size = loaded.model.config.decoding.chunk_size
    counts = [speech.frame_count(index) for index in range(len(speech))]
    usable = [index for index, count in enumerate(counts) if count > encoder.right_context]
    for places in length_batches([counts[index] for index in usable]):
        indices = [usable[place] for place in places]
        batch = pad([speech.features(index) for index in indices], [[] for _ in indices])
        encoded, lengths = encoder(batch.features, batch.feature_lengths, chunk_size, -1)
        rows = frames.whole(encoded).numpy()
        lengths = lengths * (rows.shape[1] // encoded.size(1))
        for index, row, length in zip(indices, rows, lengths.tolist(), strict=True):
            said = speech.utterances[index]
            yield Utterance(said.corpus, said.text, row[:length].copy())
