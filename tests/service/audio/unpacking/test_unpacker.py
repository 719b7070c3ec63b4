"""Containers decoded while they come."""

import asyncio
import threading
from io import BytesIO

import numpy as np
import pytest
from recorded_streams import SECONDS, muxed, recorded, steps

from earshot.service.audio.containers import (
    AIFF,
    AMR_NB_FRAMES,
    FLAC,
    MATROSKA,
    MP3,
    MP4,
    OGG,
    SNIFF_BYTES,
    sniff,
)
from earshot.service.audio.packed import Packing
from earshot.service.audio.unpacking.guarded_source import MAX_SILENT_BYTES
from earshot.service.audio.unpacking.unpacker import MAX_BLOCKS, MAX_TRAILER_BYTES, Unpacker
from earshot.service.audio.unpacking.unpackers import Unpackers
from earshot.service.errors import NoUnpacker, UndecodableAudio

RATE = 16_000


@pytest.fixture
async def open_unpacker():
    """Open unpackers, and see that none leaves a thread behind."""
    opened = []

    def start(container, channels=None):
        opened.append(Unpacker(Packing(container, channels), RATE))
        return opened[-1]

    yield start
    for each in opened:
        each.close()
    for thread in threads():
        await asyncio.to_thread(thread.join, 30)
    assert threads() == []


def threads():
    return [each for each in threading.enumerate() if each.name == "unpacker"]


async def heard(unpacker, data, piece=500):
    """All samples of a whole stream, shape ``(channels, N)``."""
    blocks = []
    for at in range(0, len(data), piece):
        blocks += [each async for each in unpacker.unpack(data[at : at + piece])]
    blocks += [each async for each in unpacker.unpack(b"", last=True)]
    return np.concatenate([np.stack(each) for each in blocks], axis=1)


def assert_like(samples, expected, rel=0.15):
    assert len(samples) == pytest.approx(len(expected), abs=RATE * 0.12)
    for at in range(2000, len(expected) - 6000, 8000):  # codecs delay: look at the middles
        here, there = samples[at : at + 4000], expected[at : at + 4000]
        assert np.std(here) == pytest.approx(np.std(there), rel=rel)


def loose(kind):
    """How much quieter a codec may make a tone: that of AMR knows only voices."""
    return 0.6 if kind == "amr" else 0.15


@pytest.mark.parametrize("piece", [97, 1 << 20])
async def test_every_kind_is_heard_however_it_is_cut(open_unpacker, recorded_kind, piece):
    data = recorded(recorded_kind)
    container = sniff(data[:SNIFF_BYTES])
    [samples] = await heard(open_unpacker(container), data, piece)
    assert_like(samples, steps(RATE), loose(recorded_kind))


async def test_frames_of_amr_need_no_header(open_unpacker):
    frames = recorded("amr").removeprefix(b"#!AMR\n")
    [samples] = await heard(open_unpacker(AMR_NB_FRAMES), frames)
    assert_like(samples, steps(RATE), loose("amr"))


@pytest.mark.parametrize(
    ("kind", "behind_s"),
    [("webm", 0.2), ("ogg-opus", 0.3), ("mp4", 0.5), ("mp3", 0.6), ("aac", 0.4), ("flac", 1.6)],
)
async def test_samples_come_while_the_stream_does(open_unpacker, kind, behind_s):
    data, count, worst_s = recorded(kind), 0, 0.0
    unpacker = open_unpacker(sniff(data[:SNIFF_BYTES]))
    for at in range(0, len(data), 200):
        async for [samples] in unpacker.unpack(data[at : at + 200]):
            count += len(samples)
        worst_s = max(worst_s, SECONDS * at / len(data) - count / RATE)
    assert worst_s < behind_s


async def test_a_stream_that_stops_anywhere_is_heard_so_far(open_unpacker, recorded_kind):
    if recorded_kind == "ogg-vorbis":
        pytest.skip("libsndfile writes it in one page")
    data = recorded(recorded_kind)
    [samples] = await heard(open_unpacker(sniff(data[:SNIFF_BYTES])), data[: len(data) * 3 // 4])
    assert 1.0 < len(samples) / RATE < 2.9


async def test_damage_that_sound_follows_is_no_end(open_unpacker):
    data = bytearray(recorded("amr"))
    middle = len(data) // 2
    data[middle : middle + 1500] = np.random.default_rng(3).bytes(1500)
    with pytest.raises(UndecodableAudio, match="damaged"):
        await heard(open_unpacker(sniff(data[:SNIFF_BYTES])), bytes(data))


@pytest.mark.parametrize("kind", ["webm", "ogg-opus", "mp4", "flac", "mp3", "amr"])
async def test_a_beginning_and_nothing_else_is_refused(open_unpacker, kind):
    data = recorded(kind)[:30]
    with pytest.raises(UndecodableAudio, match=r"holds no audio|damaged"):
        await heard(open_unpacker(sniff(data[:SNIFF_BYTES])), data)


@pytest.mark.parametrize("kind", ["webm", "ogg-opus", "mp4", "flac"])
async def test_noise_behind_a_header_is_refused(open_unpacker, kind):
    head = recorded(kind)[:60]
    noise = np.random.default_rng(5).bytes(200_000)
    with pytest.raises(UndecodableAudio):
        await heard(open_unpacker(sniff(head[:SNIFF_BYTES])), head + noise, 5000)


async def test_what_never_sounds_is_not_read_forever(open_unpacker):
    picture = b"ID3\x04\0\0" + bytes([0x7F] * 4) + bytes(MAX_SILENT_BYTES)
    with pytest.raises(UndecodableAudio, match="bytes of MP3 held no sound"):
        await heard(open_unpacker(MP3), picture, 1 << 20)


async def test_an_mp4_whose_description_comes_last_is_refused_at_once(open_unpacker):
    muxed("aac", "mp4", 16_000, file=(file := BytesIO()))
    data = file.getvalue()
    unpacker = open_unpacker(MP4)
    with pytest.raises(UndecodableAudio, match="cannot be streamed"):
        [_ async for _ in unpacker.unpack(data[:200])]


async def test_an_mp4_whose_description_comes_first_is_heard(open_unpacker, tmp_path):
    path = tmp_path / "audio"
    muxed("aac", "mp4", 16_000, {"movflags": "faststart"}, file=str(path))
    [samples] = await heard(open_unpacker(MP4), path.read_bytes())
    assert_like(samples, steps(RATE))


async def test_few_bytes_that_decode_to_hours_are_refused(open_unpacker):
    silence = np.zeros((1, 60 * 65_535), np.float32)
    data = muxed("flac", "flac", 4_000, {}, silence, {"frame_size": "65535"})
    with pytest.raises(UndecodableAudio, match="fewer than 10 bytes a second"):
        await heard(open_unpacker(FLAC), data)


def stereo():
    left = steps(48_000)
    return np.stack([left, 0.5 * left])


async def test_channels_are_mixed_as_in_files(open_unpacker):
    data = muxed("libopus", "webm", audio=stereo())
    [samples] = await heard(open_unpacker(MATROSKA), data)
    assert_like(samples, np.sqrt(0.5) * 1.5 * steps(RATE))


async def test_channels_are_heard_apart_where_asked(open_unpacker):
    data = muxed("flac", "flac", audio=stereo())
    left, right = await heard(open_unpacker(FLAC, 2), data)
    assert_like(left, steps(RATE))
    assert_like(right, 0.5 * steps(RATE))


async def test_other_channels_than_asked_for_are_refused(open_unpacker):
    with pytest.raises(UndecodableAudio, match="1 channels, and channels=2 was asked"):
        await heard(open_unpacker(OGG, 2), recorded("ogg-opus"))


async def test_a_recording_that_is_over_takes_a_trailer_and_no_more(open_unpacker):
    data = recorded("aiff")
    unpacker = open_unpacker(AIFF)
    with pytest.raises(UndecodableAudio, match="has ended, and more bytes follow"):
        await heard(unpacker, data + bytes(MAX_TRAILER_BYTES + 9000), 4000)


async def test_the_thread_waits_for_who_takes_the_samples(open_unpacker):
    unpacker = open_unpacker(OGG)
    blocks = unpacker.unpack(recorded("ogg-opus"))
    await anext(blocks)
    assert unpacker._out.qsize() <= MAX_BLOCKS + 1


@pytest.mark.parametrize("given", [0, 100, 20_000])
async def test_a_closed_one_ends_its_thread_wherever_it_is(open_unpacker, given):
    unpacker = open_unpacker(OGG)
    if given:
        blocks = unpacker.unpack(recorded("ogg-opus")[:given])
        await anext(blocks, None)
        await blocks.aclose()
    assert len(threads()) == 1
    unpacker.close()


async def test_a_place_is_free_when_its_thread_has_ended():
    unpackers = Unpackers(1, RATE)
    first = unpackers.open(Packing(OGG))
    with pytest.raises(NoUnpacker, match="1 sockets send containers already"):
        unpackers.open(Packing(OGG))
    first.close()
    await asyncio.to_thread(threads()[0].join, 30)
    assert len(unpackers) == 0
    unpackers.open(Packing(OGG)).close()
