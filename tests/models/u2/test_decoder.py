"""The attention decoders against WeNet's outputs."""

import torch

from earshot.models.u2.decoder import source_mask


def golden_inputs(golden):
    """Memory (1, T, D), its length, and the golden hypotheses as tokens (1, N, U)."""
    memory = golden.arrays["full_A"]
    return memory, torch.tensor([memory.size(1)]), golden.arrays["dec_hyps_pad"][None]


@torch.no_grad()
def test_left_log_probs_equal_wenets(golden, assert_same):
    log_probs = golden.model.left_decoder(*golden_inputs(golden)).log_softmax(-1)[0]
    lengths = golden.arrays["dec_hyps_lens"].tolist()
    for row, expected, length in zip(
        log_probs, golden.arrays["dec_left_logp"], lengths, strict=True
    ):
        assert_same(row[:length], expected[:length])


@torch.no_grad()
def test_right_log_probs_equal_wenets(golden, assert_same):
    decoder = golden.model.right_decoder
    assert (decoder is None) == (golden.arrays["dec_right_logp"].dim() == 0)
    if decoder is None:
        return
    memory, memory_lengths, _ = golden_inputs(golden)
    for hypothesis, expected in zip(
        golden.meta["dec_hyps"], golden.arrays["dec_right_logp"], strict=True
    ):
        tokens = torch.tensor([[[golden.meta["sos"], *reversed(hypothesis)]]])
        log_probs = decoder(memory, memory_lengths, tokens).log_softmax(-1)[0, 0]
        assert_same(log_probs, expected[: len(log_probs)])


@torch.no_grad()
def test_steps_equal_the_whole_sequence(tiny_models):
    decoder = tiny_models["conformer"].left_decoder
    torch.manual_seed(0)
    memory, lengths = torch.randn(2, 7, 16), torch.tensor([7, 4])
    tokens = torch.randint(0, 11, (2, 3, 5))
    whole = decoder(memory, lengths, tokens)
    sources, mask, past = decoder.project_sources(memory), source_mask(memory, lengths), None
    for place in range(tokens.size(2)):
        logits, past = decoder.step(sources, mask, tokens[..., place], past)
        torch.testing.assert_close(logits, whole[:, :, place], rtol=0, atol=1e-5)


@torch.no_grad()
def test_padding_of_the_memory_is_not_heard(tiny_models):
    decoder = tiny_models["conformer"].left_decoder
    torch.manual_seed(0)
    memory, tokens = torch.randn(1, 7, 16), torch.randint(0, 11, (1, 2, 4))
    alone = decoder(memory[:, :4], torch.tensor([4]), tokens)
    padded = decoder(memory, torch.tensor([4]), tokens)
    torch.testing.assert_close(padded, alone, rtol=0, atol=1e-5)


@torch.no_grad()
def test_hypotheses_of_a_stream_do_not_see_each_other(tiny_models):
    decoder = tiny_models["conformer"].left_decoder
    torch.manual_seed(0)
    memory, lengths = torch.randn(1, 6, 16), torch.tensor([6])
    tokens = torch.randint(0, 11, (1, 3, 4))
    together = decoder(memory, lengths, tokens)
    alone = decoder(memory, lengths, tokens[:, 1:2])
    torch.testing.assert_close(together[:, 1:2], alone, rtol=0, atol=1e-5)
