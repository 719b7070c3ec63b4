"""Log-probabilities that say digits, a graph of digits, and decoders of it."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.posteriors.ctc_decoder import CtcDecoder
from earshot.streaming.posteriors.ctc_tokens import CtcTokens

SYMBOLS = ["<blank>", "<unk>", "<sos/eos>", *"一二三四五六七八九"]
SEARCH = GraphSearchConfig(lm_weight=1.0, max_active=200)


def spoken(text: str, seed: int = 0, gap: int = 2) -> Tensor:
    """Each letter for a frame, with blanks around; `(T, V)`, noisy, a space is ten blanks."""
    tokens = [0] * gap
    for letter in text:
        tokens += [0] * 10 if letter == " " else [SYMBOLS.index(letter)] + [0] * gap
    logits = torch.randn(len(tokens), len(SYMBOLS), generator=torch.Generator().manual_seed(seed))
    logits[range(len(tokens)), tokens] += 9.0
    return logits.log_softmax(-1)


@pytest.fixture
def say() -> Callable[..., Tensor]:
    return spoken


@pytest.fixture
def tokens() -> CtcTokens:
    return CtcTokens(SYMBOLS)


@pytest.fixture
def make_decoder(digit_loop, tokens) -> Callable[..., CtcDecoder]:
    def make(graph=None, **options) -> CtcDecoder:
        options = {"search": SEARCH, "device": "cpu", "threads": 1, "max_streams": 3, **options}
        return CtcDecoder(graph or digit_loop(len(SYMBOLS)), tokens, **options)

    return make


@pytest.fixture
def decoder(make_decoder) -> CtcDecoder:
    return make_decoder()
