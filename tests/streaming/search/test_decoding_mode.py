"""The names of modes."""

import pytest

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.search.decoding_mode import WENET_MODES, mode_of
from earshot.streaming.stream_config import StreamConfig


def test_who_names_none_gets_the_first():
    assert mode_of(StreamConfig()) == WENET_MODES[0] == "attention_rescoring"


@pytest.mark.parametrize("mode", WENET_MODES)
def test_a_mode_is_called_by_its_name(mode):
    assert mode_of(StreamConfig(mode=mode)) == mode


def test_another_name_is_refused_with_those_there_are():
    with pytest.raises(InvalidStreamConfig, match="mode=guess: must be one of attention_rescoring"):
        mode_of(StreamConfig(mode="guess"))
