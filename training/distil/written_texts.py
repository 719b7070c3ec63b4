"""Transcripts as the teacher would write them: with its capitals and marks.

It writes each recording as finals are written, of letters and marks alone, with the transcript as
the draft, which takes a few passes over the decoder's weights instead of one a token. Where its
words are nearly the transcript's, these get the forms of its own. Where they are not, a transcript
that is known to be one sentence is written plainly.

One JSON object a line, appended when a text is written: a run that was killed goes on with those
that were there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

import jiwer
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.whisper_decoder.pen import TextTokens, WrittenWord, dressed, plainly
from earshot.models.whisper_decoder.whisper_scorer import Segments, WhisperScorer
from earshot.training.corpus.utterance import Utterance
from earshot.training.distil.targets import Taught
from earshot.training.files.output_folder import make_folder

Tokens = tuple[int, ...]


class WrittenTexts:
    """Texts by the number of a recording.

    tokens: of the decoder that learns them. most_errors: of the words that the teacher writes, the
    share at most that are not the transcript's. sentences: corpora whose transcripts are one
    sentence each. most_tokens: there is room for in the decoder; longer texts are left out.

    made_by: a checksum of what they depend on; lines of another one are passed over.
    """

    def __init__(
        self,
        path: Path,
        utterances: Sequence[Utterance],
        scorer: WhisperScorer,
        tokens: TextTokens,
        most_errors: float,
        made_by: str,
        most_tokens: int,
        sentences: Collection[str] = (),
    ) -> None:
        make_folder(path.parent)
        self._path = path
        self._utterances = utterances
        self._scorer = scorer
        self._tokens = tokens
        self._most_errors = most_errors
        self._made_by = made_by
        self._most_tokens = most_tokens
        self._sentences = sentences
        self._known = self._read()

    def of(self, indices: Sequence[int], taught: Taught) -> list[Tokens | None]:
        """The tokens of each recording; None where the teacher hears something else, or too much.

        taught: its frames of each, from which it writes what is not written yet.
        """
        names = [self._name(index) for index in indices]
        missing = {name: row for row, name in enumerate(names) if name not in self._known}
        if missing:
            rows = list(missing.values())
            frames, lengths = taught.frames[rows], taught.lengths[rows]
            self._write([indices[row] for row in rows], self._scorer.listen(frames, lengths))
        return [self._tokens_of(index, name) for index, name in zip(indices, names, strict=True)]

    def _tokens_of(self, index: int, name: str) -> Tokens | None:
        utterance, text = self._utterances[index], self._known[name]
        if text is None and utterance.text and utterance.corpus in self._sentences:
            text = " ".join(word.form for word in plainly(utterance.text.split())) + "."
        if text is None:
            return None
        tokens = tuple(self._tokens.encode(" " + text))
        return tokens if len(tokens) <= self._most_tokens else None

    def _write(self, indices: Sequence[int], segments: Segments) -> None:
        drafts = [self._utterances[index].text.split() for index in indices]
        with self._path.open("a", encoding="utf-8") as lines:
            for index, words in zip(indices, segments.write(drafts), strict=True):
                name, text = self._name(index), self._usable(self._utterances[index], words)
                row = {"recording": name, "made_by": self._made_by, "text": text}
                lines.write(json.dumps(row) + "\n")
                self._known[name] = text

    def _name(self, index: int) -> str:
        """A recording with its transcript: where that is corrected, another text may agree."""
        utterance = self._utterances[index]
        return f"{utterance.path}\t{utterance.text}"

    def _usable(self, utterance: Utterance, words: Sequence[WrittenWord]) -> str | None:
        """The transcript in the forms of what was written, if that is nearly the same."""
        said = " ".join(word.bare for word in words)
        if not utterance.text or not said or jiwer.wer(utterance.text, said) > self._most_errors:
            return None
        return " ".join(word.form for word in dressed(utterance.text.split(), words))

    def _read(self) -> dict[str, str | None]:
        if not self._path.is_file():
            return {}
        known: dict[str, str | None] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                if row["made_by"] == self._made_by:
                    known[row["recording"]] = None if row["text"] is None else str(row["text"])
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
