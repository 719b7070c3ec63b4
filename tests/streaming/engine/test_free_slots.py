import pytest

from earshot.streaming.engine.free_slots import FreeSlots
from earshot.streaming.errors import EngineFull


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
