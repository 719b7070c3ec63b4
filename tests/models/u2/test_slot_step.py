"""Each encoder takes the step that is there for it."""

import torch
from tiny_models import TINY_TOKENIZER

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.u2.conformer_step import ConformerStep
from earshot.models.u2.slot_step import slot_step


def test_a_conformer_on_a_cpu_steps_natively(tiny_models):
    assert isinstance(slot_step(tiny_models["conformer"].encoder), ConformerStep)


@torch.no_grad()
def test_an_encoder_without_a_native_step_steps_in_torch(tiny_models):
    encoder = tiny_models["positional_keys_pooled"].encoder
    torch.manual_seed(0)
    feats, lengths = (
        torch.randn(2, encoder.right_context + 1 + encoder.subsampling_rate, 80),
        torch.tensor([2, 1]),
    )
    state, slots = encoder.initial_state(3, 8), torch.tensor([2, 0])
    found, _ = slot_step(encoder)(feats, lengths, state, slots, 0)
    expected, _ = encoder.forward_lanes(feats, lengths, state.gather(slots, 2, 0))
    assert torch.equal(found, expected)


def test_blocks_that_wait_for_their_weights_get_them_where_torch_steps(tiny_models, tmp_path):
    save_model(tmp_path, tiny_models["positional_keys_pooled"], TINY_TOKENIZER, "tiny")
    encoder = load_model(tmp_path, late=True).model.encoder
    assert any(each.is_meta for each in encoder.parameters())
    slot_step(encoder)
    assert not any(each.is_meta for each in encoder.parameters())
