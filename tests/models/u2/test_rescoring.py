"""Attention rescoring against WeNet's scores and choices."""

import math
import re

import torch

from earshot.models.u2.rescoring import attention_scores


def rescore(golden, memory, nbest, ctc_scores, ctc_weight, reverse_weight):
    """WeNet's formula: total, attention score and token confidences of each hypothesis."""
    lengths = torch.tensor([memory.size(1)])
    scores = attention_scores(golden.model, memory, lengths, nbest, [0] * len(nbest))
    sides = zip(scores.left, scores.right, strict=True)
    attention = [(1 - reverse_weight) * left + reverse_weight * right for left, right in sides]
    totals = [a + ctc_weight * c for a, c in zip(attention, ctc_scores, strict=True)]
    left = scores.left_token_log_probs
    right = scores.right_token_log_probs if reverse_weight > 0 else left
    confidences = [
        [(math.exp(one) + math.exp(other)) / 2 for one, other in zip(*pair, strict=True)]
        for pair in zip(left, right, strict=True)
    ]
    return totals, attention, confidences


RESCORING = re.compile(r"rescoring_beam(\d+)_ctc([\d.]+)_rev([\d.]+)")


def memory_of(golden, run):
    """Encoder output of a run such as full_A or c16_l-1_B."""
    return golden.arrays[run if run.startswith("full") else f"stream_{run}"]


def test_choice_score_and_confidence_are_wenets(searched_golden, assert_same):
    golden, compared = searched_golden, 0
    runs = {name: run for name, run in golden.search.items() if name != "context_graph"}
    for name, run in runs.items():
        for key in filter(RESCORING.fullmatch, run):
            beam, ctc_weight, reverse_weight = RESCORING.fullmatch(key).groups()
            first_pass, expected = run[f"prefix_beam{beam}"], run[key]
            totals, attention, confidences = rescore(
                golden,
                memory_of(golden, name),
                first_pass["nbest"],
                first_pass["nbest_scores"],
                float(ctc_weight),
                float(reverse_weight),
            )
            best = max(range(len(totals)), key=totals.__getitem__)
            tokens = first_pass["nbest"][best]
            assert tokens == expected["tokens"]
            assert_same(totals[best], expected["score"])
            assert_same(math.exp(attention[best] / (len(tokens) + 1)), expected["confidence"])
            assert_same(confidences[best], expected["tokens_confidence"])
            compared += 1
    assert compared >= 4 * len(runs)


def test_scores_equal_wenets(golden, assert_same):
    memory = golden.arrays["full_A"]
    hypotheses = golden.meta["dec_hyps"]
    owner = [0] * len(hypotheses)
    lengths = torch.tensor([memory.size(1)])
    scores = attention_scores(golden.model, memory, lengths, hypotheses, owner)
    assert_same(scores.left, golden.meta["dec_left_scores"])
    if golden.model.right_decoder is None:
        assert scores.right_token_log_probs is None
        assert scores.right == [0.0] * len(hypotheses)
    else:
        assert_same(scores.right, golden.meta["dec_right_scores"])


def test_a_streams_scores_do_not_depend_on_its_company(golden, assert_same):
    a, b = golden.arrays["full_A"], golden.arrays["full_B"]
    memory = torch.nn.utils.rnn.pad_sequence([a[0], b[0]], batch_first=True)
    lengths = torch.tensor([a.size(1), b.size(1)])
    hypotheses = [[5, 6, 7], [8], [], [9, 9, 10, 11], [12, 3]]
    owner = [1, 0, 1, 0, 1]
    together = attention_scores(golden.model, memory, lengths, hypotheses, owner)
    for index, (hypothesis, stream) in enumerate(zip(hypotheses, owner, strict=True)):
        own = (a, b)[stream]
        alone = attention_scores(golden.model, own, torch.tensor([own.size(1)]), [hypothesis], [0])
        assert_same(together.left[index], alone.left[0])
        assert_same(together.right[index], alone.right[0])
        assert_same(together.left_token_log_probs[index], alone.left_token_log_probs[0])


def test_nothing_to_score_is_no_error(golden):
    memory = golden.arrays["full_A"]
    scores = attention_scores(golden.model, memory, torch.tensor([memory.size(1)]), [], [])
    assert scores.left == scores.right == []


def test_token_log_probs_are_in_token_order(golden_by_name):
    golden = golden_by_name["u2pp_conformer"]
    memory, lengths = golden.arrays["full_A"], torch.tensor([105])
    tokens = golden.search["full_A"]["greedy"]["tokens"]
    wrong = [*tokens[:3], 5, *tokens[4:]]
    scores = attention_scores(golden.model, memory, lengths, [wrong], [0])
    assert scores.right_token_log_probs is not None
    for values in (scores.left_token_log_probs[0], scores.right_token_log_probs[0]):
        assert min(range(len(values)), key=values.__getitem__) == 3


def test_the_right_decoder_can_be_left_out(golden_by_name):
    golden = golden_by_name["u2pp_conformer"]
    memory, lengths = golden.arrays["full_A"], torch.tensor([105])
    scores = attention_scores(golden.model, memory, lengths, [[5, 6]], [0], reverse=False)
    assert scores.right == [0.0]
    assert scores.right_token_log_probs is None
