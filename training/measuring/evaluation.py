"""Word error rates by corpus and speaker, in four decoding modes, at any chunk size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import jiwer
import torch
from torch import Tensor

from earshot.language.text.transcript_text import ENGLISH, normalise_text
from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.layers.ctc import collapse
from earshot.training.data.speech import Speech
from earshot.training.measuring.attended import Attended, Texts, attended_by
from earshot.training.measuring.greedy import heard_batch, length_batches
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


@torch.inference_mode()
def decode(
    loaded: LoadedModel, attended: Attended, features: Tensor, lengths: Tensor, chunk_size: int
) -> list[Texts]:
    """Texts by mode for each row of `(B, T, F)`, chunk-masked, which equals streaming.

    Those of a model with Whisper's decoder as transcripts hold them, without capitals and marks.
    """
    model = u2_of(loaded)
    memory, memory_lengths = model.encoder(features, lengths, chunk_size, FULL_CONTEXT)
    log_probs = model.ctc_log_probs(memory)
    blank = model.config.blank_id
    rows = [row[:n] for row, n in zip(log_probs, memory_lengths.tolist(), strict=True)]
    beams = [prefix_beam_search(row, BEAM_SIZE, blank) for row in rows]
    second = attended(memory, memory_lengths, beams)
    plain = str if model.whisper_decoder is None else _plain_in(loaded)
    return [
        {mode: plain(text) for mode, text in {**by_ctc, **by_attention}.items()}
        for by_ctc, by_attention in zip(_by_ctc(loaded, rows, beams), second, strict=True)
    ]


def _plain_in(loaded: LoadedModel) -> Callable[[str], str]:
    """A normaliser of texts in the model's language."""
    return partial(normalise_text, language=next(iter(loaded.languages), ENGLISH))


def _by_ctc(
    loaded: LoadedModel, rows: Sequence[Tensor], beams: Sequence[Sequence[Prefix]]
) -> Iterator[Texts]:
    text, blank = loaded.tokenizer.decode, u2_of(loaded).config.blank_id
    for row, beam in zip(rows, beams, strict=True):
        greedy = collapse(row.argmax(dim=-1).tolist(), blank)
        yield {
            "ctc_greedy_search": text(greedy),
            "ctc_prefix_beam_search": text(beam[0].tokens),
        }


def transcribe(
    loaded: LoadedModel, speech: Speech, chunk_sizes: Sequence[int]
) -> Iterator[Transcript]:
    """Every utterance of `speech` at every chunk size.

    A recording too short for one encoder frame gives empty text. Raises ModelError for a Whisper
    decoder whose tokens are not there.
    """
    attended = attended_by(loaded, BEAM_SIZE)
    counts = [speech.frame_count(index) for index in range(len(speech))]
    for chunk_size in chunk_sizes:
        bar = progress_bar(total=len(speech), desc=f"chunk {chunk_size}", unit="utterance")
        for indices in length_batches(counts):
            texts = _texts(loaded, attended, speech, indices, chunk_size)
            for index, hypotheses in zip(indices, texts, strict=True):
                said = speech.utterances[index]
                yield Transcript(said.corpus, said.speaker, chunk_size, said.text, hypotheses)
            bar.update(len(indices))
        bar.close()


def _texts(
    loaded: LoadedModel,
    attended: Attended,
    speech: Speech,
    indices: Sequence[int],
    chunk_size: int,
) -> list[Texts]:
    usable = [index for index in indices if speech.frame_count(index)]
    texts = {index: dict.fromkeys(MODES, "") for index in indices}
    if usable:
        batch = heard_batch(u2_of(loaded), speech, usable)
        decoded = decode(loaded, attended, batch.features, batch.feature_lengths, chunk_size)
        texts |= dict(zip(usable, decoded, strict=True))
    return [texts[index] for index in indices]
