"""Texts that grow are scored as if each node were asked about alone, natively and by torch."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from whisper_texts_oracle import PlainTexts

from earshot.models.native.given_up import give_up
from earshot.models.native.weights import processors
from earshot.models.whisper_decoder import native_texts, torch_texts
from earshot.models.whisper_decoder.filled_memory import filled
from earshot.models.whisper_decoder.growing_texts import Question
from earshot.models.whisper_decoder.native_texts import NativeTexts
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.torch_texts import TorchTexts
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

VOCABULARY = 300
KEPT = [token for token in range(VOCABULARY) if token % 7]
BEST = 3
ROUNDING = {"rtol": 1e-4, "atol": 1e-4}
TEXTS = st.lists(st.lists(st.sampled_from(KEPT[:9]), max_size=6), max_size=5)
ROUNDS = st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=3)
LENGTHS = [1, 23, 16]


@pytest.fixture(scope="module")
def decoder() -> WhisperDecoder:
    torch.manual_seed(5)
    config = WhisperDecoderConfig(
        vocab_size=VOCABULARY, positions=40, size=36, attention_heads=3, num_blocks=2,
        prompt=(290, 291), end=1,
    )  # fmt: skip
    decoder = WhisperDecoder(config).eval().requires_grad_(False)
    torch.nn.init.normal_(decoder.positional_embedding, std=0.3)
    return decoder


@pytest.fixture(scope="module")
def memory() -> torch.Tensor:
    """(3, 23, 36), of which `LENGTHS` are real; the rest must not matter."""
    torch.manual_seed(6)
    memory = torch.randn(len(LENGTHS), max(LENGTHS), 36)
    for row, length in zip(memory, LENGTHS, strict=True):
        row[length:] = 1e6
    return memory


def grown(scorer, memory, lengths, rounds):
    """Texts that get some more in each round, and what is answered about all of their nodes."""
    listening = scorer.listen(memory, torch.tensor(lengths))
    for each in rounds:
        for text, added in zip(listening.texts, each, strict=True):
            for tokens in added:
                text.follow(len(scorer_prompt(listening)) - 1, tokens)
        listening.score()
    texts = listening.texts
    questions = [
        Question(row, text.parents[node], text.tokens[node])
        for row, text in enumerate(texts)
        for node in range(2, len(text))
    ]
    return texts, listening.answer(questions)


def scorer_prompt(listening):
    return listening.texts[0].tokens[:2]


@pytest.fixture(scope="module", params=[None, 10, 16, 23, 40, 64], ids="silence={}".format)
def silence(request) -> torch.Tensor | None:
    """(W, 36): shorter than some memories, or longer than all of them."""
    torch.manual_seed(7)
    return None if request.param is None else torch.randn(request.param, 36)


def test_a_memory_gets_the_rest_of_a_silent_window(memory):
    silence = torch.randn(20, 36)
    found, lengths = filled(memory, torch.tensor(LENGTHS), silence)
    assert lengths.tolist() == [20, 23, 20]
    for row, length in enumerate(LENGTHS):
        expected = torch.cat((memory[row, :length], silence[length:]))
        assert torch.equal(found[row, : lengths[row]], expected)


@pytest.mark.parametrize("processor", processors())
def test_grown_natively_each_node_is_scored_as_if_alone(
    decoder, memory, silence, monkeypatch, processor
):
    monkeypatch.setattr(native_texts, "processors", lambda: [processor])
    check(NativeTexts(decoder, KEPT, BEST, silence=silence), memory, silence)


def test_grown_by_torch_each_node_is_scored_as_if_alone(decoder, memory, silence):
    check(TorchTexts(decoder, KEPT, BEST, silence), memory, silence)


def test_blocks_of_outputs_change_nothing(decoder, memory, monkeypatch):
    monkeypatch.setattr(torch_texts, "OUTPUTS_AT_ONCE", 2)
    check(TorchTexts(decoder, KEPT, BEST), memory, None)


def test_no_device_is_mixed_with_the_cpu(decoder, memory, silence, emulated):
    there = copy.deepcopy(decoder).to(emulated)
    window = None if silence is None else silence.to(emulated)
    check(TorchTexts(there, KEPT, BEST, window), memory.to(emulated), silence, decoder)


def check(scorer, memory, silence, decoder=None):
    """Texts of any shapes, grown in any rounds, against the oracle on the CPU."""
    exact = PlainTexts(decoder or scorer.decoder, KEPT, BEST, silence)

    @settings(max_examples=9, deadline=None)
    @given(ROUNDS)
    def grow(rounds):
        texts, answers = grown(scorer, memory, LENGTHS, rounds)
        expected, exact_answers = grown(exact, memory.cpu(), LENGTHS, rounds)
        torch.testing.assert_close(answers, exact_answers, **ROUNDING)
        for text, wanted in zip(texts, expected, strict=True):
            assert text.tokens == wanted.tokens
            for found, likely in zip(text.likely, wanted.likely, strict=True):
                assert [token for token, _ in found] == [token for token, _ in likely]
                torch.testing.assert_close(
                    [score for _, score in found], [score for _, score in likely], **ROUNDING
                )

    grow()


def test_torch_computes_a_node_once(decoder, memory, monkeypatch):
    embedded = []
    scorer = TorchTexts(decoder, KEPT, BEST)
    plain = decoder.embed_tokens
    monkeypatch.setattr(
        decoder, "embed_tokens", lambda *each: embedded.append(each[0].numel()) or plain(*each)
    )
    rounds = [[[[1, 2, 3]]] * 3, [[]] * 3, [[[1, 2, 4]], [], []]]
    grown(scorer, memory, LENGTHS, rounds)
    assert embedded == [3 * 5, 1]


def test_one_text_has_the_same_bits_in_any_company_and_in_any_rounds(decoder, memory):
    scorer = NativeTexts(decoder, KEPT, BEST)
    own = [[1, 2, 3], [1, 2, 4, 5], [6]]
    together, _ = grown(scorer, memory, LENGTHS, [[[[8, 9]], own, [[3, 4]]]])
    alone = scorer.listen(memory[1:2], torch.tensor([23]))
    for tokens in own:
        alone.texts[0].follow(1, tokens)
        alone.score()
    assert alone.texts[0].likely == together[1].likely


def test_weights_that_were_given_up_are_freed_as_they_are_copied(decoder, memory):
    given_up = copy.deepcopy(decoder)
    give_up(given_up)
    rounds = [[[[1, 2, 3]]] * 3]
    one, other = (
        grown(NativeTexts(each, KEPT, BEST), memory, LENGTHS, rounds)[0]
        for each in (decoder, given_up)
    )
    assert [text.likely for text in one] == [text.likely for text in other]
    matrices = [each for each in given_up.parameters() if each.dim() > 1 and not each.is_meta]
    assert [each.data_ptr() for each in matrices] == [given_up.positional_embedding.data_ptr()]
    assert not any(weights.is_meta for weights in decoder.parameters())


def test_tokens_that_are_not_kept_take_no_share(decoder, memory):
    scorer = NativeTexts(decoder, KEPT[:4], 4)
    listening = scorer.listen(memory, torch.tensor(LENGTHS))
    listening.score()
    for text in listening.texts:
        shares = torch.tensor([score for _, score in text.likely[1]]).exp()
        assert float(shares.sum()) == pytest.approx(1.0, abs=1e-5)
        assert sorted(token for token, _ in text.likely[1]) == KEPT[:4]
