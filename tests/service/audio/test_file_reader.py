"""Files made with the encoders of libsndfile and FFmpeg, then damaged."""

import av
import numpy as np
import pytest
import soundfile

from earshot.service.audio.file_reader import AudioFile
from earshot.service.errors import AudioTooLong, UndecodableAudio

SECONDS = 3.0


def scale(rate):
    """A higher tone each half second."""
    time = np.arange(int(SECONDS * rate)) / rate
    return (0.4 * np.sin(2 * np.pi * (400 + 200 * (time // 0.5)) * time)).astype(np.float32)


def with_soundfile(path, kind, subtype, rate=16000):
    soundfile.write(path, scale(rate), rate, format=kind, subtype=subtype)


def with_av(path, codec, container, rate=48000, layout="mono"):
    with av.open(str(path), "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate, layout=layout)
        stream.bit_rate = 96_000
        frame = av.AudioFrame.from_ndarray(scale(rate)[None], format="fltp", layout="mono")
        frame.rate = rate
        resampler = av.AudioResampler(
            stream.format, stream.layout, stream.rate, frame_size=stream.codec_context.frame_size
        )
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))


MAKERS = {
    "wav": lambda path: with_soundfile(path, "WAV", "PCM_16"),
    "wav24": lambda path: with_soundfile(path, "WAV", "PCM_24", 44100),
    "alaw": lambda path: with_soundfile(path, "WAV", "ALAW", 8000),
    "flac": lambda path: with_soundfile(path, "FLAC", "PCM_16", 48000),
    "ogg-vorbis": lambda path: with_soundfile(path, "OGG", "VORBIS"),
    "ogg-opus": lambda path: with_soundfile(path, "OGG", "OPUS", 48000),
    "mp3": lambda path: with_soundfile(path, "MP3", "MPEG_LAYER_III", 44100),
    "aiff": lambda path: with_soundfile(path, "AIFF", "PCM_16"),
    "m4a": lambda path: with_av(path, "aac", "ipod"),
    "mp4": lambda path: with_av(path, "aac", "mp4", 44100),
    "webm": lambda path: with_av(path, "libopus", "webm"),
    "mkv-mp3": lambda path: with_av(path, "libmp3lame", "matroska", 44100),
    "mka-ac3": lambda path: with_av(path, "ac3", "matroska"),
    "m4a-alac": lambda path: with_av(path, "alac", "ipod", 44100),
    "mov-pcm": lambda path: with_av(path, "pcm_s16le", "mov"),
    "wma": lambda path: with_av(path, "wmav2", "asf", 44100),
    "caf": lambda path: with_soundfile(path, "CAF", "PCM_16"),
    "au": lambda path: with_soundfile(path, "AU", "ULAW", 8000),
    "w64": lambda path: with_soundfile(path, "W64", "PCM_16"),
    "rf64": lambda path: with_soundfile(path, "RF64", "PCM_16"),
    "aac": lambda path: with_av(path, "aac", "adts"),
    "mp3-stereo-id3": lambda path: with_av(path, "libmp3lame", "mp3", 48000, "stereo"),
    "mp3-mpeg2": lambda path: with_av(path, "libmp3lame", "mp3", 16000),
}


@pytest.fixture(params=sorted(MAKERS))
def made(request, tmp_path):
    """A file of each kind, without a telling name."""
    path = tmp_path / "audio"
    MAKERS[request.param](path)
    return request.param, path


def test_every_kind_gives_the_same_sound(made):
    _, path = made
    audio = np.concatenate(list(AudioFile(path, 16000).blocks()))
    expected = scale(16000)
    assert len(audio) == pytest.approx(len(expected), abs=16000 * 0.1)
    # Codecs delay and colour: compare loudness and pitch in the middle of each half second.
    for at in range(2000, 40000, 8000):
        here, there = audio[at : at + 4000], expected[at : at + 4000]
        assert np.std(here) == pytest.approx(np.std(there), rel=0.15)
        pitches = [np.argmax(np.abs(np.fft.rfft(each))) for each in (here, there)]
        assert pitches[0] == pitches[1]


def test_the_duration_is_known_beforehand(made):
    kind, path = made
    duration_s = AudioFile(path, 16000).duration_s
    assert duration_s is None or duration_s == pytest.approx(SECONDS, abs=0.15)
    if kind != "aac":  # ADTS has no header that could say it
        assert duration_s is not None


CAN_BE_CUT = """wav flac m4a mp4 webm mkv-mp3 ogg-vorbis ogg-opus aiff caf au w64 mp3
mp3-stereo-id3 mp3-mpeg2"""


@pytest.mark.parametrize("kind", CAN_BE_CUT.split())
def test_a_cut_file_is_said_to_be_cut(kind, tmp_path):
    path = tmp_path / "audio"
    MAKERS[kind](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UndecodableAudio, match=r"cut|damaged"):
        list(AudioFile(path, 16000).blocks())


@pytest.mark.parametrize("kind", ["wav", "flac", "aiff", "caf", "au", "w64", "ogg-opus"])
def test_two_recordings_joined_are_not_taken_for_the_first(kind, tmp_path):
    path = tmp_path / "audio"
    MAKERS[kind](path)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(UndecodableAudio, match="several recordings"):
        AudioFile(path, 16000)


def test_two_mp3_files_joined_are_read_to_their_end(tmp_path):
    path = tmp_path / "audio"
    MAKERS["mp3"](path)
    path.write_bytes(path.read_bytes() * 2)
    samples = sum(map(len, AudioFile(path, 16000).blocks()))
    assert samples == pytest.approx(2 * SECONDS * 16000, abs=16000 * 0.2)


@pytest.mark.parametrize(("kind", "at", "size"), [("au", 8, 4), ("w64", 120, 8)])
def test_a_size_that_the_writer_left_open_is_none(kind, at, size, tmp_path):
    path = tmp_path / "audio"
    MAKERS[kind](path)
    data = bytearray(path.read_bytes())
    data[at : at + size] = (b"\xff" * (size - 1) + b"\x7f") if size == 8 else b"\xff" * size
    path.write_bytes(data)
    samples = sum(map(len, AudioFile(path, 16000).blocks()))
    assert samples == pytest.approx(SECONDS * 16000, abs=16)


@pytest.mark.parametrize("quality", ["64k", "V4"])
def test_an_mp3_without_a_header_for_its_length_is_read_to_its_end(quality, tmp_path):
    path = tmp_path / "audio"
    with av.open(str(path), "w", format="mp3", options={"write_xing": "0"}) as out:
        stream = out.add_stream("libmp3lame", rate=16000, layout="mono")
        if quality == "V4":
            stream.codec_context.qscale = True
            stream.codec_context.global_quality = 4 * 118
        else:
            stream.bit_rate = 64_000
        # Loud noise after silence: a guess from the first frames' size is far off.
        noise = np.random.default_rng(1).uniform(-0.5, 0.5, 16000 * 20).astype(np.float32)
        noise[: 16000 * 5] = 0.0
        frame = av.AudioFrame.from_ndarray(noise[None], format="fltp", layout="mono")
        frame.rate = 16000
        resampler = av.AudioResampler(
            stream.format, stream.layout, stream.rate, frame_size=stream.codec_context.frame_size
        )
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))
    audio = np.concatenate(list(AudioFile(path, 16000).blocks()))
    assert len(audio) == pytest.approx(20 * 16000, abs=16000 * 0.2)


@pytest.mark.parametrize("kind", ["flac", "m4a", "webm", "ogg-vorbis"])
def test_a_corrupt_header_is_refused(kind, tmp_path):
    path = tmp_path / "audio"
    MAKERS[kind](path)
    data = bytearray(path.read_bytes())
    data[16:2000] = bytes(1984)
    path.write_bytes(data)
    with pytest.raises(UndecodableAudio):
        list(AudioFile(path, 16000).blocks())


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "empty"),
        (b"hello, this is a text file", "no audio format"),
        (b'{"url": "https://example.org/a.wav"}', "not JSON"),
        (b"PK\x03\x04" + bytes(100), "no audio format"),
        (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "no audio format"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "no audio format"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "WAV"),
        (b"ID3" + bytes(5000), "MP3"),
        (b"ID3", "MP3"),
        (b".snd", "AU"),
        (b".snd\0\0\0\x18\0\0", "AU"),
        (b".snd" + bytes(100), "damaged, or of a codec we do not read"),
        (b"riff\x2e\x91\xcf\x11", "Wave64"),
        (b"fLaC", "FLAC"),
    ],
)
def test_what_is_no_audio_is_refused(data, named, tmp_path):
    path = tmp_path / "audio"
    path.write_bytes(data)
    with pytest.raises(UndecodableAudio, match=named):
        list(AudioFile(path, 16000).blocks())


@pytest.mark.parametrize("size", [b"\xff\xff\xff\xff", bytes(4)])
def test_a_wav_of_a_writer_that_could_not_seek_is_whole(size, tmp_path):
    path = tmp_path / "audio"
    MAKERS["wav"](path)
    data = bytearray(path.read_bytes())
    at = data.index(b"data") + 4
    data[at : at + 4] = data[4:8] = size
    path.write_bytes(data)
    assert sum(map(len, AudioFile(path, 16000).blocks())) == SECONDS * 16000


def test_nan_samples_are_refused(tmp_path):
    path = tmp_path / "audio"
    soundfile.write(path, np.array([0.0, np.nan] * 100), 16000, format="WAV", subtype="FLOAT")
    with pytest.raises(UndecodableAudio, match="NaN"):
        list(AudioFile(path, 16000).blocks())


@pytest.mark.parametrize("kind", ["wav", "webm"])
def test_too_much_audio_is_refused_by_its_header(kind, tmp_path):
    path = tmp_path / "audio"
    MAKERS[kind](path)
    with pytest.raises(AudioTooLong, match="2 s are allowed"):
        AudioFile(path, 16000, max_s=2)


def test_too_much_audio_without_a_header_is_refused_on_the_way(tmp_path):
    path = tmp_path / "audio"
    MAKERS["aac"](path)
    with pytest.raises(AudioTooLong):
        list(AudioFile(path, 16000, max_s=1).blocks())


def test_stereo_is_mixed_down(tmp_path):
    path = tmp_path / "audio"
    stereo = np.stack([scale(16000), -scale(16000)], axis=1)
    soundfile.write(path, stereo, 16000, format="FLAC")
    assert np.abs(np.concatenate(list(AudioFile(path, 16000).blocks()))).max() < 1e-3


def test_a_file_is_read_in_blocks_not_at_once(tmp_path):
    path = tmp_path / "audio"
    MAKERS["wav"](path)
    assert all(len(block) <= 16000 for block in AudioFile(path, 16000).blocks())


def test_a_video_gives_its_sound(tmp_path):
    path = tmp_path / "video"
    with av.open(str(path), "w", format="mp4") as out:
        video = out.add_stream("mpeg4", rate=5)
        video.width = video.height = 32
        sound = out.add_stream("aac", rate=16000, layout="mono")
        for _ in range(5):
            picture = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))
            out.mux(video.encode(picture))
        frame = av.AudioFrame.from_ndarray(scale(16000)[None, :1024], "fltp", "mono")
        frame.rate = 16000
        out.mux(sound.encode(frame))
        out.mux(sound.encode(None))
        out.mux(video.encode(None))
    assert len(np.concatenate(list(AudioFile(path, 16000).blocks()))) >= 1024


def test_a_video_without_sound_is_refused(tmp_path):
    path = tmp_path / "video"
    with av.open(str(path), "w", format="mp4") as out:
        video = out.add_stream("mpeg4", rate=5)
        video.width = video.height = 32
        out.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))))
        out.mux(video.encode(None))
    with pytest.raises(UndecodableAudio, match="no audio"):
        AudioFile(path, 16000)


def test_a_damaged_file_is_refused_without_our_path(tmp_path):
    path = tmp_path / "audio"
    MAKERS["m4a"](path)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(UndecodableAudio) as caught:
        list(AudioFile(path, 16000).blocks())
    assert str(tmp_path) not in str(caught.value)


def test_a_file_that_is_not_there_is_one_plain_sentence(tmp_path):
    with pytest.raises(UndecodableAudio, match=r"cannot be read: No such file"):
        AudioFile(tmp_path / "absent.wav", 16000)


def test_a_wav_of_endless_empty_chunks_is_refused(tmp_path):
    path = tmp_path / "audio"
    path.write_bytes(b"RIFF\xff\xff\xff\xffWAVE" + b"junk\0\0\0\0" * 5000)
    with pytest.raises(UndecodableAudio, match="1000 chunks"):
        AudioFile(path, 16000)


def test_a_flac_file_whose_writer_did_not_know_its_length_is_whole(tmp_path):
    path = tmp_path / "audio"
    MAKERS["flac"](path)
    data = bytearray(path.read_bytes())
    data[21] &= 0xF0  # STREAMINFO: 36 bits of total samples
    data[22:26] = bytes(4)
    path.write_bytes(data)
    audio = AudioFile(path, 16000, max_s=60)
    assert audio.duration_s is None
    assert sum(map(len, audio.blocks())) == pytest.approx(SECONDS * 16000, abs=2)


STEREO = {
    "wav": lambda path, audio: soundfile.write(path, audio, 16000, format="WAV"),
    "flac": lambda path, audio: soundfile.write(path, audio, 48000, format="FLAC"),
    "mka": lambda path, audio: stereo_with_av(path, audio, "pcm_s16le", "matroska"),
    "m4a": lambda path, audio: stereo_with_av(path, audio, "aac", "ipod"),
}


def stereo_with_av(path, audio, codec, container):
    with av.open(str(path), "w", format=container) as out:
        stream = out.add_stream(codec, rate=16000, layout="stereo")
        samples = np.ascontiguousarray(audio.T.astype(np.float32))
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="stereo")
        frame.rate = 16000
        resampler = av.AudioResampler(
            stream.format, stream.layout, 16000, frame_size=stream.codec_context.frame_size
        )
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))


@pytest.mark.parametrize("kind", sorted(STEREO))
def test_a_channel_is_read_by_itself(kind, tmp_path):
    path = tmp_path / "audio"
    time = np.arange(32000) / 16000
    left, right = (0.5 * np.sin(2 * np.pi * pitch * time) for pitch in (440, 1000))
    STEREO[kind](path, np.stack([left, right], axis=1))
    audio = AudioFile(path, 16000)
    assert audio.channels == 2
    scale_of_rate = 3 if kind == "flac" else 1
    for channel, pitch in ((0, 440), (1, 1000), (0, 440)):
        heard = np.concatenate(list(audio.blocks(channel)))
        middle = heard[2000:10000]
        assert np.argmax(np.abs(np.fft.rfft(middle))) * 2 == pytest.approx(
            pitch * scale_of_rate, abs=4
        )
        assert np.std(middle) == pytest.approx(0.354, rel=0.1)


def test_channels_heard_apart_share_the_length_that_is_allowed(tmp_path):
    path = tmp_path / "audio"
    soundfile.write(path, np.zeros((32000, 2)), 16000, format="WAV")
    assert AudioFile(path, 16000, max_s=2.0).duration_s == 2.0
    with pytest.raises(AudioTooLong, match="holds 2 s, 1 s are allowed"):
        AudioFile(path, 16000, max_s=2.0, apart=True)
    AudioFile(path, 16000, max_s=4.0, apart=True)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param("0100 0100 803e0000 007d0000 0200 0000", id="no bits"),
        pytest.param("ffff 0100 803e0000 007d0000 0200 1000", id="unknown codec"),
        pytest.param("0100 0000 803e0000 007d0000 0000 1000", id="no channels"),
        pytest.param("0000 0000 00000000 00000000 0000 0000", id="nothing"),
    ],
)
def test_a_wav_whose_format_makes_no_sense_is_refused(tmp_path, fields):
    path = tmp_path / "file"
    head = b"RIFF\x0c\x04\x00\x00WAVEfmt \x10\x00\x00\x00" + bytes.fromhex(fields)
    path.write_bytes(head + b"data\xe8\x03\x00\x00" + bytes(1000))
    with pytest.raises(UndecodableAudio):
        list(AudioFile(path, 16000).blocks())


@pytest.mark.parametrize(
    ("kind", "channels"), [("WAV", 0), ("WAV", 1025), ("WAV", 65535), ("AU", 1025), ("AU", 65535)]
)
@pytest.mark.parametrize("apart", [False, True])
def test_a_number_of_channels_that_makes_no_sense_is_refused(tmp_path, kind, channels, apart):
    path = tmp_path / "audio"
    with_soundfile(path, kind, "PCM_16")
    file = bytearray(path.read_bytes())
    file[22:24] = channels.to_bytes(2, "little" if kind == "WAV" else "big")
    path.write_bytes(file)
    with pytest.raises(UndecodableAudio, match=f"the {kind} file is damaged"):
        list(AudioFile(path, 16000, apart=apart).blocks(0 if apart else None))
