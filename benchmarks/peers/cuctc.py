"""torchaudio's CUDA CTC decoder: prefix beam search, without words or a language model."""

import importlib
from collections.abc import Sequence
from typing import Any

import torch

from benchmarks.wfst.ours import Batch
from benchmarks.wfst.streams import NotRun, Words

BEAM_SIZE = 10


class CuctcFiles:
    """Whole utterances; it skips frames where blank has more than 0.95, its default."""

    def __init__(self, vocab_size: int, blank_id: int) -> None:
        if blank_id != 0:
            raise NotRun("it wants blank to be token 0")
        try:
            module = importlib.import_module("torchaudio.models.decoder")
            make: Any = module.cuda_ctc_decoder
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            raise NotRun(f"pip install torchaudio for CUDA ({error})") from error
        units = [str(token) for token in range(vocab_size)]
        self._decoder: Any = make(units, nbest=1, beam_size=BEAM_SIZE)
        self._batch: Batch | None = None
        self._lengths = torch.empty(0)

    def prepare(self, chunks: Sequence[Batch]) -> None:
        """One batch, lengths on the device."""
        if len(chunks) != 1:
            raise NotRun("it takes whole utterances only")
        [self._batch] = chunks
        self._lengths = self._batch.lengths.to(self._batch.log_probs.device, torch.int32)

    def start(self) -> None:
        """Nothing to begin."""

    def advance(self, index: int) -> None:
        """All of it."""
        assert self._batch is not None
        self._decoder(self._batch.log_probs, self._lengths)

    def words(self) -> list[Words]:
        """It writes none."""
        return []
