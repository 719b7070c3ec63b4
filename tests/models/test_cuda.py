"""On a GPU the network gives what it gives on the CPU."""

import copy

import pytest
import torch

from earshot.models.u2.attention_search import attention_beam_search
from earshot.models.u2.rescoring import attention_scores
from earshot.training.network.joint_loss import joint_loss

pytestmark = pytest.mark.gpu
TOLERANCE = {"rtol": 0.0, "atol": 1e-3}


@torch.no_grad()
def test_lanes(streamable_golden):
    outputs = []
    for device in ("cpu", "cuda"):
        encoder = copy.deepcopy(streamable_golden.model.encoder).to(device)
        window = 15 * encoder.subsampling_rate + encoder.right_context + 1
        features = streamable_golden.features["A"][:, :window].repeat(2, 1, 1).to(device)
        state = encoder.initial_state(2, 32, device)
        rows = torch.arange(2, device=device)
        for lengths in ([16, 5], [16, 16]):
            context = state.gather(rows, 16)
            out_lengths = torch.tensor(lengths, device=device)
            encoded, update = encoder.forward_lanes(features, out_lengths, context)
            state.scatter(rows, update)
        outputs.append(encoded.cpu())
    torch.testing.assert_close(outputs[1], outputs[0], **TOLERANCE)


def test_rescoring_and_search(searched_golden):
    model = copy.deepcopy(searched_golden.model).to("cuda")
    memory = searched_golden.arrays["full_A"].to("cuda")
    lengths = torch.tensor([memory.size(1)], device="cuda")
    hypotheses = searched_golden.meta["dec_hyps"]
    scores = attention_scores(model, memory, lengths, hypotheses, [0] * len(hypotheses))
    expected = searched_golden.meta["dec_left_scores"]
    assert scores.left == pytest.approx(expected, abs=1e-2)
    found = attention_beam_search(model, memory, lengths, 10, length_penalty=0.0)[0][0]
    expected = searched_golden.search["full_A"]["attention_beam10"]["tokens"]
    assert list(found.tokens) == expected


def test_training_step(tiny_model):
    model = copy.deepcopy(tiny_model).to("cuda").train().requires_grad_(True)
    features, lengths = torch.randn(2, 90, 80, device="cuda"), torch.tensor([90, 60], device="cuda")
    tokens, token_lengths = torch.randint(3, 11, (2, 4)), torch.tensor([4, 2])
    loss = joint_loss(model, features, lengths, tokens.cuda(), token_lengths.cuda(), chunk_size=4)
    loss.total.backward()
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters())
