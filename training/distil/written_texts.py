"""Texts that the teacher writes of recordings, kept as far as they agree with transcripts.

One JSON object a line, appended when a text is written: a run that was killed goes on with those
that were there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jiwer
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.language.text.transcript_text import normalise_text
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.corpus.manifest import Utterance
from earshot.training.distil.greedy_tokens import GreedyWriter
from earshot.training.distil.teacher import Teacher
from earshot.training.files.output_folder import make_folder
from earshot.training.waveform.clips import Clips

Tokens = tuple[int, ...]


class WrittenTexts:
    """Texts by the number of a recording; `most_errors` is the share of its words at most.

    made_by: a checksum of what they depend on; lines of another one are passed over.
    """

    def __init__(
        self,
        path: Path,
        utterances: Sequence[Utterance],
        clips: Clips,
        writing: tuple[Teacher, GreedyWriter, WhisperTokenizer],
        most_errors: float,
        made_by: str,
    ) -> None:
        make_folder(path.parent)
        self._path = path
        self._utterances = utterances
        self._clips = clips
        self._teacher, self._writer, self._tokenizer = writing
        self._most_errors = most_errors
        self._made_by = made_by
        self._known = self._read()

    def of(self, indices: Sequence[int]) -> list[Tokens | None]:
        """The tokens of each recording; None where they do not say what the transcript says."""
        names = [self._name(index) for index in indices]
        missing = {
            name: index
            for name, index in zip(names, indices, strict=True)
            if name not in self._known
        }
        if missing:
            self._write(list(missing.values()))
        return [self._known[name] for name in names]

    def _write(self, indices: Sequence[int]) -> None:
        rows = [self._teacher.of_whole(self._clips[index]) for index in indices]
        lengths = torch.tensor([len(row) for row in rows], device=self._teacher.device)
        found = self._writer.write(pad_sequence(rows, batch_first=True), lengths)
        with self._path.open("a", encoding="utf-8") as lines:
            for index, tokens in zip(indices, found, strict=True):
                utterance = self._utterances[index]
                usable = None if tokens is None or not self._agrees(utterance, tokens) else tokens
                name = self._name(index)
                row = {"recording": name, "made_by": self._made_by, "tokens": usable}
                lines.write(json.dumps(row) + "\n")
                self._known[name] = None if usable is None else tuple(usable)

    def _name(self, index: int) -> str:
        """A recording with its transcript: where that is corrected, another text may agree."""
        utterance = self._utterances[index]
        return f"{utterance.path}\t{utterance.text}"

    def _agrees(self, utterance: Utterance, tokens: Sequence[int]) -> bool:
        said = normalise_text(self._tokenizer.decode(tokens))
        if not utterance.text or not said:
            return False
        return float(jiwer.wer(utterance.text, said)) <= self._most_errors

    def _read(self) -> dict[str, Tokens | None]:
        if not self._path.is_file():
            return {}
        known: dict[str, Tokens | None] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                if row["made_by"] == self._made_by:
                    tokens = row["tokens"]
                    known[row["recording"]] = None if tokens is None else tuple(map(int, tokens))
            except (ValueError, TypeError, LookupError):
                continue  # a line that was cut: its text is written again
        return known


def batch_tokens(texts: Sequence[Tokens], prompt: Tokens, end: int) -> tuple[Tensor, Tensor]:
    """Prompt, text and end of each as `(B, U)`, and which of all but the first are foretold."""
    rows = [torch.tensor([*prompt, *text, end]) for text in texts]
    tokens = pad_sequence(rows, batch_first=True, padding_value=end)
    places = torch.arange(1, tokens.size(1))
    counts = torch.tensor([len(row) for row in rows]).unsqueeze(1)
    return tokens, (places >= len(prompt)) & (places < counts)
