"""Own texts are those of greedy search whatever is guessed, and texts are scored token by token."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_tokens import END, PIECES, PROMPT, ToyTokens

from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.own_text import SPARE_TOKENS, TOKENS_A_WORD, places_in
from earshot.models.whisper_decoder.pen import Pen, plainly
from earshot.models.whisper_decoder.torch_texts import TorchTexts
from earshot.models.whisper_decoder.whisper_scorer import FOREIGN, WhisperScorer
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

WORDS = ["red", "blue", "green", "it", "reds", "blueish", "i"]
SCORERS = ["native", "torch"]


@pytest.fixture(scope="module")
def decoder() -> WhisperDecoder:
    """One whose texts end, some soon."""
    torch.manual_seed(9)
    config = WhisperDecoderConfig(
        vocab_size=len(PIECES), positions=60, size=24, attention_heads=2, num_blocks=2,
        prompt=PROMPT, end=END,
    )  # fmt: skip
    decoder = WhisperDecoder(config).eval().requires_grad_(False)
    torch.nn.init.normal_(decoder.positional_embedding, std=1.0)
    return decoder


@pytest.fixture(scope="module")
def pen() -> Pen:
    return Pen(ToyTokens(), len(PIECES), END)


@pytest.fixture(scope="module")
def scorers(decoder, pen) -> dict[str, WhisperScorer]:
    positions = decoder.config.positions
    return {
        "native": WhisperScorer.of(decoder, ToyTokens()),
        "torch": WhisperScorer(TorchTexts(decoder, pen.kept, 1), pen, positions),
    }


def log_probs(decoder, pen, memory, tokens):
    """(U, V) after the prompt's last token and each of `tokens`, of what texts are made of."""
    fed = torch.tensor([[*PROMPT, *tokens]])
    logits = decoder(memory[None], torch.tensor([len(memory)]), fed)[0, len(PROMPT) - 1 :]
    left_out = [token for token in range(len(PIECES)) if not pen.is_kept(token)]
    logits[:, left_out] = -torch.inf
    return logits.log_softmax(-1)


def greedy(decoder, pen, memory, most):
    tokens: list[int] = []
    while len(tokens) < most:
        token = int(log_probs(decoder, pen, memory, tokens)[-1].argmax())
        if token == END:
            break
        tokens.append(token)
    return tokens


@pytest.mark.parametrize("kind", SCORERS)
def test_own_texts_are_those_of_greedy_search(decoder, pen, scorers, kind):
    @settings(max_examples=15, deadline=None)
    @given(st.lists(st.lists(st.sampled_from(WORDS), max_size=4), min_size=1, max_size=3))
    def check(drafts):
        torch.manual_seed(len(drafts[0]))
        memory = torch.randn(len(drafts), 12, 24)
        lengths = torch.tensor([12, 5, 9][: len(drafts)])
        own = scorers[kind].listen(memory, lengths).write(drafts)
        for row, (draft, words) in enumerate(zip(drafts, own, strict=True)):
            most = TOKENS_A_WORD * len(draft) + SPARE_TOKENS
            expected = greedy(decoder, pen, memory[row, : lengths[row]], most)
            assert words == pen.read(expected)

    check()


@pytest.mark.parametrize("kind", SCORERS)
def test_a_text_counts_its_tokens_and_the_end_after_them(decoder, pen, scorers, kind):
    torch.manual_seed(2)
    memory, words = torch.randn(1, 12, 24), plainly(["red", "blueish", "it"])
    ((found,),) = scorers[kind].listen(memory, torch.tensor([12])).score([[words]])
    tokens = pen.write(words)
    rows = log_probs(decoder, pen, memory[0], tokens)
    by_token = rows[range(len(tokens) + 1), [*tokens, END]]
    assert found.total == pytest.approx(float(by_token.sum()), abs=1e-3)
    assert found.by_word == pytest.approx(
        [float(by_token[0]), float(by_token[1:3].sum()), float(by_token[3])], abs=1e-3
    )


def test_words_of_no_text_count_little_and_do_not_fail(scorers):
    words = plainly(["14"])
    ((found,),) = (
        scorers["native"].listen(torch.randn(1, 4, 24), torch.tensor([4])).score([[words]])
    )
    assert found.by_word[0] == FOREIGN


def test_a_right_guess_takes_fewer_passes_than_its_words(decoder, pen, scorers):
    torch.manual_seed(1)
    memory = torch.randn(1, 12, 24)
    own = scorers["torch"].listen(memory, torch.tensor([12])).write([["it"] * 9])[0]
    passes: list[int] = []
    bare = [word.bare for word in own]
    scorers["torch"].listen(memory, torch.tensor([12])).write([bare], lambda: passes.append(1))
    assert own
    assert len(passes) < len(pen.write(own)) + 1


@pytest.mark.parametrize(
    ("draft", "words", "places"),
    [
        ("a b c", "", [0, 1]),
        ("a b c", "a b", [2, 3]),
        ("a b c", "a x", [2, 1]),
        ("a b c", "a b c", [3, 2]),
        ("", "a", [0]),
    ],
)
def test_places_in_a_draft_are_where_fewest_edits_are_left(draft, words, places):
    assert places_in(draft.split(), words.split()) == places
