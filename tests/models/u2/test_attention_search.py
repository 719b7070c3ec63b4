"""Attention beam search against WeNet's."""

import pytest
import torch

from earshot.models.u2.attention_search import AttentionHypothesis, attention_beam_search
from earshot.models.u2.rescoring import attention_scores


def search(golden, utterances, **options):
    memories = [golden.arrays[f"full_{utterance}"][0] for utterance in utterances]
    memory = torch.nn.utils.rnn.pad_sequence(memories, batch_first=True)
    lengths = torch.tensor([len(one) for one in memories])
    return attention_beam_search(golden.model, memory, lengths, beam_size=10, **options)


@pytest.mark.parametrize("utterances", ["A", "B", "AB"])
def test_best_hypothesis_is_wenets(searched_golden, utterances):
    golden = searched_golden
    beams = search(golden, utterances, length_penalty=0.0)
    for utterance, beam in zip(utterances, beams, strict=True):
        expected = golden.search[f"full_{utterance}"]["attention_beam10"]["tokens"]
        assert list(beam[0].tokens) == expected


def test_it_tells_of_each_token(golden_by_name):
    told = []
    beam = search(golden_by_name["u2pp_conformer"], "A", on_token=lambda: told.append(1))[0]
    assert len(told) >= len(beam[0].tokens) + 1  # its end is one too


@pytest.mark.parametrize("utterance", ["A", "B"])
def test_both_wavs_come_out_letter_for_letter_with_the_default_penalty(golden_by_name, utterance):
    golden = golden_by_name["u2pp_conformer"]
    expected = golden.search[f"full_{utterance}"]["greedy"]["tokens"]
    assert list(search(golden, utterance)[0][0].tokens) == expected


def test_score_is_that_of_rescoring(golden_by_name, assert_same):
    golden = golden_by_name["u2pp_conformer"]
    memory = golden.arrays["full_A"]
    # Those as long as the memory were cut there and have no <eos> in their score.
    beam = [h for h in search(golden, "A")[0] if len(h.tokens) < memory.size(1)]
    assert len(beam) > 5
    scores = attention_scores(
        golden.model, memory, torch.tensor([105]), [h.tokens for h in beam], [0] * len(beam)
    )
    assert_same([h.score for h in beam], scores.left)


def test_a_stream_does_not_depend_on_its_company(golden, assert_same):
    together = search(golden, "AB")
    for utterance, beam in zip("AB", together, strict=True):
        alone = search(golden, utterance)[0]
        assert [h.tokens for h in beam] == [h.tokens for h in alone]
        assert_same([h.score for h in beam], [h.score for h in alone])


def test_a_hypothesis_is_no_longer_than_its_memory(tiny_models):
    torch.manual_seed(0)
    memory, lengths = torch.randn(2, 6, 16), torch.tensor([6, 2])
    for length, beam in zip(
        (6, 2), attention_beam_search(tiny_models["conformer"], memory, lengths, 3), strict=True
    ):
        assert beam
        assert all(len(hypothesis.tokens) <= length for hypothesis in beam)


def test_beam_wider_than_the_vocabulary_is_no_error(tiny_models):
    memory = torch.zeros(1, 3, 16)
    beam = attention_beam_search(tiny_models["conformer"], memory, torch.tensor([3]), 50)[0]
    assert 1 <= len(beam) <= 11


def test_normalised_score_divides_by_length():
    assert AttentionHypothesis((1, 2), -6.0).normalised(1.0) == -3.0
    assert AttentionHypothesis((1, 2), -6.0).normalised(0.0) == -6.0
    assert AttentionHypothesis((), -6.0).normalised(1.0) == -6.0
