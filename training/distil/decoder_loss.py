"""The loss of Whisper's decoder on a student's frames, against texts that the teacher wrote.

Inputs are cropped a short silence after the last word, and a silent window stands behind them, as
it will when the decoder serves: Whisper's ends a text where nothing more comes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder.filled_memory import filled
from earshot.training.data.batch import CleanSound
from earshot.training.distil.student_frames import StudentFrames
from earshot.training.distil.targets import Taught
from earshot.training.distil.written_texts import WrittenTexts, batch_tokens


class DecoderLoss:
    """Cross-entropy in nats a token of the batch just encoded; its model has Whisper's decoder.

    frame_samples: samples of one of the student's frames. silence: (W, D), see `silent_window`.
    """

    def __init__(
        self,
        model: U2Model,
        texts: WrittenTexts,
        frame_samples: int,
        silence: Tensor | None = None,
    ) -> None:
        assert model.whisper_decoder is not None
        self._decoder = model.whisper_decoder
        self._texts = texts
        self._frame_samples = frame_samples
        self._silence = silence
        self._student = StudentFrames(model).watch()

    def of(
        self, clean: Sequence[CleanSound], taught: Taught, heard: Tensor, tail_samples: int
    ) -> Tensor:
        """The loss of rows that are one recording each, and whose text is usable; else zero.

        taught: the teacher's frames of the batch, of which it writes what is not written yet.
        heard (B,): frames there are of each row; they end `tail_samples` after its sound.
        """
        alone = [row for row, each in enumerate(clean) if len(each.members) == 1]
        members = [clean[row].members[0] for row in alone]
        found = self._texts.of(members, Taught(taught.frames[alone], taught.lengths[alone]))
        texts = {row: text for row, text in zip(alone, found, strict=True) if text is not None}
        if not texts:
            return self._student.frames.new_zeros(())
        rows = list(texts)
        ends = [(len(clean[row].samples) + tail_samples) // self._frame_samples for row in rows]
        lengths = torch.minimum(torch.tensor(ends, device=heard.device), heard[rows])
        config = self._decoder.config
        tokens, wanted = batch_tokens(list(texts.values()), config.prompt, config.end)
        tokens, wanted = tokens.to(heard.device), wanted.to(heard.device)
        memory = self._student.frames[rows]
        if self._silence is not None:
            memory, lengths = filled(memory, lengths, self._silence)
        logits = self._decoder(memory, lengths, tokens[:, :-1])
        return functional.cross_entropy(logits[wanted].float(), tokens[:, 1:][wanted])
