"""One step of the network for many lanes."""

from concurrent.futures import Future

from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import StreamConfig, StreamPriority


def test_what_a_segment_keeps_of_a_step_does_not_keep_the_batch(tone_model, sounds):
    config = EngineConfig(max_streams=3, chunk_size=8, threads=1)
    recognizer = build_recognizer(tone_model, config)
    lanes = []
    for slot in range(3):
        stream = ActiveStream(
            slot,
            StreamConfig(),
            "prefix",
            StreamPriority.FILE,
            lambda event: None,
            Inbox(1),
            Future(),
            recognizer.settings,
        )
        stream.listen(sounds.speech("一二三"))
        lanes.append(Lane(stream, stream.ready_cut()))
    recognizer.encode(lanes)
    recognizer.decode(lanes)
    for lane in lanes:
        [kept] = lane.stream.segment.encoded
        assert kept.shape == (8, 80)
        assert kept.untyped_storage().nbytes() == kept.nbytes
