"""Both engines hear as many chunks."""

from pathlib import Path

import pytest
import torch

from benchmarks.nemo_streams.in_process import Contest, Lengths, letters
from benchmarks.nemo_streams.peer_export import PeerFiles
from benchmarks.nemo_streams.served import tail_s, users_of
from benchmarks.nemo_streams.streaming_model import model_config
from benchmarks.peers.turns import Turn
from earshot.models.fastconformer.subsampling import ConvSubsampling

FEATURE = 160


@pytest.mark.parametrize("frames", [14, 7, 2, 1])
@pytest.mark.parametrize("seconds", [0.5, 3.0, 10.0, 19.0])
def test_streams_have_a_number_of_whole_chunks_in_both(frames: int, seconds: float) -> None:
    lengths = Lengths.within(frames, seconds)
    stem = ConvSubsampling(model_config().encoder)
    ours, theirs = lengths.samples // FEATURE, lengths.samples_for_peer // FEATURE
    assert int(stem.encoded_length(torch.tensor(ours))) == lengths.chunks * frames
    # As the peer counts: a chunk is ready while more than its window lies ahead.
    shift, window = 8 * frames, 8 * frames + 9
    ready = [done for done in range(0, theirs, shift) if done + window < theirs]
    assert len(ready) == lengths.chunks
    assert lengths.chunks == 1 or lengths.samples_for_peer <= seconds * 16_000


def test_letters_are_counted_without_spaces() -> None:
    assert letters(Turn(1.0, ["a bc", ""])) == 3


def test_users_are_asked_for_by_right_context_and_server() -> None:
    asked = users_of(["13:earshot=10,20", "0:sherpa-int8=1"])
    assert asked == [(13, "earshot", [10, 20]), (0, "sherpa-int8", [1])]


def test_silence_behind_an_utterance_fills_the_peers_last_chunk() -> None:
    tails = [tail_s(Contest(Path(), PeerFiles(Path()), frames)) for frames in (14, 1)]
    assert tails == pytest.approx([1.22, 0.8])
