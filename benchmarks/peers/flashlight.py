"""flashlight-text (PyPI), a lexicon decoder with KenLM on the CPU.

Its beam is a number of hypotheses and of tokens per frame; the same model of words is asked on the
fly. CTC with blank between repeated tokens.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flashlight.lib.text.decoder import (
    CriterionType,
    LexiconDecoder,
    LexiconDecoderOptions,
    SmearingMode,
    Trie,
)
from flashlight.lib.text.decoder.kenlm import KenLM
from flashlight.lib.text.dictionary import Dictionary

from benchmarks.wfst.posteriors import Floats

UNKNOWN = "<unk>"
ROOT = 0


@dataclass(frozen=True)
class FlashlightBeam:
    """Hypotheses, tokens considered per frame, and how much worse than the best one may be."""

    size: int
    tokens: int
    threshold: float


class FlashlightLexicon:
    """The words with their spellings as a trie, smeared with the best score below each node."""

    def __init__(self, arpa: Path, spellings: Mapping[str, Sequence[int]], vocab_size: int) -> None:
        self.words = Dictionary()
        for text in (*spellings, UNKNOWN):
            self.words.add_entry(text)
        self.language_model = KenLM(str(arpa), self.words)
        self.vocab_size = vocab_size
        self.trie = Trie(vocab_size, ROOT)
        start = self.language_model.start(False)
        for text, tokens in spellings.items():
            index = self.words.get_index(text)
            _, score = self.language_model.score(start, index)
            self.trie.insert(list(tokens), index, score)
        self.trie.smear(SmearingMode.MAX)


class FlashlightSearch:
    """One decoder. ``scale`` multiplies the language model's natural logarithms."""

    def __init__(
        self, lexicon: FlashlightLexicon, beam: FlashlightBeam, scale: float, blank_id: int
    ) -> None:
        options = LexiconDecoderOptions(
            beam_size=beam.size,
            beam_size_token=beam.tokens,
            beam_threshold=beam.threshold,
            lm_weight=scale * math.log(10.0),  # KenLM's scores are logarithms to base 10
            word_score=0.0,
            unk_score=-math.inf,
            sil_score=0.0,
            log_add=False,
            criterion_type=CriterionType.CTC,
        )
        unknown = lexicon.words.get_index(UNKNOWN)
        self._lexicon = lexicon
        self._decoder = LexiconDecoder(
            # Between words it wants a silence; blank is ours.
            options, lexicon.trie, lexicon.language_model, blank_id, blank_id, unknown, [], False
        )  # fmt: skip

    def decode(self, log_probs: Floats) -> str:
        """The text of the best path."""
        rows = np.ascontiguousarray(log_probs)
        best = self._decoder.decode(rows.ctypes.data, len(rows), self._lexicon.vocab_size)[0]
        return " ".join(self._lexicon.words.get_entry(i) for i in best.words if i >= 0)
