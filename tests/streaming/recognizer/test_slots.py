import pytest
import torch

from earshot.streaming.errors import EngineFull
from earshot.streaming.recognizer.slots import EncoderSlots, FreeSlots


def test_each_slot_has_one_owner():
    free = FreeSlots(2)
    taken = {free.take(), free.take()}
    assert taken == {0, 1}
    with pytest.raises(EngineFull, match="2"):
        free.take()
    free.give_back(1)
    assert free.take() == 1


def test_a_slot_is_not_given_back_twice():
    free = FreeSlots(2)
    slot = free.take()
    free.give_back(slot)
    with pytest.raises(AssertionError, match="twice"):
        free.give_back(slot)


def test_lanes_are_gathered_scattered_and_reset_by_slot(tone_model):
    encoder = tone_model.model.encoder
    slots = EncoderSlots(encoder, 4, cache_frames=10, device=torch.device("cpu"))
    lanes = slots.gather(torch.tensor([3, 1]), columns=4)
    assert lanes.att_cache.shape[:4] == (2, 1, 1, 4)
    lanes.offset += torch.tensor([30, 10])
    lanes.att_cache += torch.tensor([3.0, 1.0]).view(2, 1, 1, 1, 1)
    slots.scatter(torch.tensor([3, 1]), lanes)
    everything = slots.gather(torch.arange(4), columns=10)
    assert everything.offset.tolist() == [0, 10, 0, 30]
    assert everything.att_cache[:, 0, 0, :, 0].sum(dim=1).tolist() == [0.0, 4.0, 0.0, 12.0]
    slots.reset(torch.tensor([3]))
    assert slots.gather(torch.arange(4), columns=10).offset.tolist() == [0, 10, 0, 0]
    assert not slots.gather(torch.tensor([3]), columns=10).att_cache.any()
