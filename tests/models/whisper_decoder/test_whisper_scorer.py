"""Own texts are those of greedy search whatever is guessed, and texts are scored token by token."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_tokens import END, PIECES, PROMPT, ToyTokens

from earshot.models.whisper_decoder.asked_texts import FOREIGN
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.own_text import SPARE_TOKENS, TOKENS_A_WORD, PlaceInDraft
from earshot.models.whisper_decoder.pen import Pen, plainly
from earshot.models.whisper_decoder.torch_texts import TorchTexts
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer
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
    ((found,),) = scorers[kind].listen(memory, torch.tensor([12])).rank([[words]], [[0.0]], [1])
    tokens = pen.write(words)
    rows = log_probs(decoder, pen, memory[0], tokens)
    by_token = rows[range(len(tokens) + 1), [*tokens, END]]
    assert found.total == pytest.approx(float(by_token.sum()), abs=1e-3)
    assert found.by_word == pytest.approx(
        [float(by_token[0]), float(by_token[1:3].sum()), float(by_token[3])], abs=1e-3
    )


def test_words_of_no_text_count_little_and_do_not_fail(scorers):
    words = plainly(["14"])
    segments = scorers["native"].listen(torch.randn(1, 4, 24), torch.tensor([4]))
    ((found,),) = segments.rank([[words]], [[0.0]], [1])
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


@pytest.mark.parametrize("kind", SCORERS)
def test_a_text_that_the_decoder_has_no_room_for_is_not_whole(decoder, scorers, kind):
    most = decoder.config.positions - len(PROMPT) - 1
    fits, longer = plainly(["it"] * most), plainly(["it"] * (most + 1))
    memory = torch.randn(1, 12, 24)
    ((full, cut),) = (
        scorers[kind].listen(memory, torch.tensor([12])).rank([[fits, longer]], [[0.0, 0.0]], [2])
    )
    assert full.whole
    assert not cut.whole
    assert full.total < cut.total  # the most that it can be: its end is not known
    ((alone,),) = scorers[kind].listen(memory, torch.tensor([12])).rank([[longer]], [[0.0]], [1])
    assert not alone.whole


TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=5)


@pytest.mark.parametrize("kind", SCORERS)
def test_the_best_are_those_that_would_be_if_all_were_asked(scorers, kind):
    @settings(max_examples=25, deadline=None)
    @given(st.lists(TEXTS, min_size=2, max_size=2), st.integers(1, 3), st.randoms())
    def check(lists, wanted, chance):
        torch.manual_seed(len(lists[0]))
        memory, lengths = torch.randn(2, 12, 24), torch.tensor([12, 7])
        texts = [[plainly(words) for words in own] for own in lists]
        priors = [[chance.uniform(-9.0, 0.0) for _ in own] for own in texts]
        every = scorers[kind].listen(memory, lengths).rank(texts, priors, [9, 9])
        found = scorers[kind].listen(memory, lengths).rank(texts, priors, [wanted, wanted])
        for own, known, given_priors in zip(every, found, priors, strict=True):
            assert all(text.whole for text in own)
            exact = [p + text.total for p, text in zip(given_priors, own, strict=True)]
            least = sorted(exact, reverse=True)[:wanted][-1]
            for score, text, prior in zip(exact, known, given_priors, strict=True):
                bound = prior + text.total
                assert bound >= score - 1e-3
                if text.whole:
                    assert bound == pytest.approx(score, abs=1e-3)
                else:
                    assert bound <= least + 1e-3

    check()


def test_a_text_that_cannot_win_is_not_asked_to_its_end(scorers):
    texts = [[plainly(["it"]), plainly(["red"] * 20)]]
    segments = scorers["torch"].listen(torch.randn(1, 12, 24), torch.tensor([12]))
    passes: list[int] = []
    ((best, other),) = segments.rank(texts, [[0.0, -500.0]], [1], lambda: passes.append(1))
    assert best.whole
    assert not other.whole
    assert len(passes) == 1


@pytest.mark.parametrize(
    ("draft", "words", "place"),
    [
        ("a b c", "", 0),
        ("a b c", "a b", 2),
        ("a b c", "a x", 2),
        ("a b c", "a b c", 3),
        ("", "a", 0),
    ],
)
def test_the_place_in_a_draft_is_where_fewest_edits_are_left(draft, words, place):
    assert PlaceInDraft(draft.split()).after(words.split()) == place


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.text("abc", max_size=6)))
def test_the_place_does_not_depend_on_what_was_asked_before(draft, texts):
    growing = PlaceInDraft(draft)
    for text in texts:
        assert growing.after(list(text)) == PlaceInDraft(draft).after(list(text))
