"""Word error rates by corpus and speaker, in four decoding modes, at any chunk size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import jiwer
import torch
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.layers.ctc import collapse
from earshot.models.u2.attention_search import attention_beam_search
from earshot.models.u2.rescoring import attention_scores
from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import pad, with_flush
from earshot.training.data.silence import silence_of
from earshot.training.data.speech import Speech
from earshot.training.measuring.greedy import length_batches
from earshot.training.measuring.prefix_beam import Prefix, prefix_beam_search
from earshot.training.progress_bar import progress_bar

MODES = ("ctc_greedy_search", "ctc_prefix_beam_search", "attention", "attention_rescoring")
BEAM_SIZE = 10
FULL_CONTEXT = -1


@dataclass(frozen=True)
class Transcript:
    """Transcripts, and the text of each decoding mode, at one chunk size."""

    corpus: str
    speaker: str
    chunk_size: int
    reference: str
    hypotheses: dict[str, str]


@dataclass(frozen=True)
class ErrorRate:
    """Word error rate of a group of utterances, and how many words they have."""

    wer: float
    words: int
    utterances: int


def error_rate(references: Sequence[str], hypotheses: Sequence[str]) -> ErrorRate:
    """Errors per reference word over all utterances together."""
    words = sum(len(reference.split()) for reference in references)
    wer = jiwer.wer(list(references), list(hypotheses))
    return ErrorRate(float(wer), words, len(references))


def rates_by(
    transcripts: Iterable[Transcript], mode: str, *fields: str
) -> dict[tuple[str, ...], ErrorRate]:
    """Error rates of `mode`, grouped by the named fields of the transcripts."""
    groups: dict[tuple[str, ...], list[Transcript]] = defaultdict(list)
    for transcript in transcripts:
        groups[tuple(str(getattr(transcript, field)) for field in fields)].append(transcript)
    return {
        key: error_rate([t.reference for t in group], [t.hypotheses[mode] for t in group])
        for key, group in groups.items()
    }


def _rescore(
    model: U2Model, memory: Tensor, lengths: Tensor, beams: Sequence[Sequence[Prefix]]
) -> list[tuple[int, ...]]:
    """The best prefix of each utterance by CTC and both attention decoders together."""
    decoding = model.config.decoding
    owner = [row for row, beam in enumerate(beams) for _ in beam]
    hypotheses = [prefix.tokens for beam in beams for prefix in beam]
    scores = attention_scores(model, memory, lengths, hypotheses, owner)
    share = decoding.reverse_weight
    sides = zip(scores.left, scores.right, strict=True)
    attention = [(1 - share) * left + share * right for left, right in sides]
    best: list[tuple[int, ...]] = []
    start = 0
    for beam in beams:
        totals = [
            decoding.ctc_weight * prefix.score + attention[start + place]
            for place, prefix in enumerate(beam)
        ]
        best.append(beam[totals.index(max(totals))].tokens)
        start += len(beam)
    return best


@torch.inference_mode()
def decode(
    model: U2Model, features: Tensor, lengths: Tensor, chunk_size: int
) -> list[dict[str, Sequence[int]]]:
    """Tokens by mode for each row of `(B, T, F)`, chunk-masked, which equals streaming."""
    memory, memory_lengths = model.encoder(features, lengths, chunk_size, FULL_CONTEXT)
    log_probs = model.ctc_log_probs(memory)
    blank = model.config.blank_id
    rows = [row[:n] for row, n in zip(log_probs, memory_lengths.tolist(), strict=True)]
    beams = [prefix_beam_search(row, BEAM_SIZE, blank) for row in rows]
    rescored = _rescore(model, memory, memory_lengths, beams)
    attended = attention_beam_search(model, memory, memory_lengths, BEAM_SIZE)
    return [
        {
            "ctc_greedy_search": collapse(rows[i].argmax(dim=-1).tolist(), blank),
            "ctc_prefix_beam_search": beams[i][0].tokens,
            "attention": attended[i][0].tokens,
            "attention_rescoring": rescored[i],
        }
        for i in range(len(rows))
    ]


def transcribe(
    loaded: LoadedModel, speech: Speech, chunk_sizes: Sequence[int]
) -> Iterator[Transcript]:
    """Every utterance of `speech` at every chunk size.

    A recording too short for one encoder frame gives empty text.
    """
    counts = [speech.frame_count(index) for index in range(len(speech))]
    for chunk_size in chunk_sizes:
        bar = progress_bar(total=len(speech), desc=f"chunk {chunk_size}", unit="utterance")
        for indices in length_batches(counts):
            texts = _texts(loaded, speech, indices, chunk_size)
            for index, hypotheses in zip(indices, texts, strict=True):
                said = speech.utterances[index]
                yield Transcript(said.corpus, said.speaker, chunk_size, said.text, hypotheses)
            bar.update(len(indices))
        bar.close()


def _texts(
    loaded: LoadedModel, speech: Speech, indices: Sequence[int], chunk_size: int
) -> list[dict[str, str]]:
    model = u2_of(loaded)
    context = model.encoder.right_context
    usable = [index for index in indices if speech.frame_count(index)]
    texts = {index: dict.fromkeys(MODES, "") for index in indices}
    if usable:
        silence = silence_of(model.config.features)
        rows = [with_flush(speech.features(index), context, silence) for index in usable]
        batch = pad(rows, [[] for _ in rows])
        decoded = decode(model, batch.features, batch.feature_lengths, chunk_size)
        for index, tokens in zip(usable, decoded, strict=True):
            texts[index] = {mode: loaded.tokenizer.decode(tokens[mode]) for mode in MODES}
    return [texts[index] for index in indices]
