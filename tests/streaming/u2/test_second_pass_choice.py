"""A stream of a model with Whisper's decoder ends in words that it has written."""

from dataclasses import replace
from pathlib import Path

import pytest
import soundfile
from written_model import RECORDING, TEXT, make_written_model

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.errors import ModelError
from earshot.streaming.stream_config import StreamConfig


@pytest.fixture(scope="module")
def model(golden_dir: Path) -> LoadedModel:
    """A real encoder with its CTC head, and a decoder of random weights."""
    return make_written_model(golden_dir)


def test_finals_have_words_as_they_are_written(make_engine, model, golden_dir, sounds):
    engine = make_engine(model, chunk_size=16)
    samples = soundfile.read(golden_dir / "wavs" / RECORDING, dtype="float32")[0]
    heard = sounds.transcribe(engine, samples, StreamConfig(weights={"ctc": 10.0}))
    assert heard.text == TEXT
    words = heard.finals[0].alternatives[0].words
    assert [word.text for word in words] == TEXT.split()
    written = [word.written or "" for word in words]
    assert [form.rstrip(",.?").upper() for form in written] == TEXT.split()
    assert written[0] == "It"


def test_whispers_decoder_is_told_as_a_head_that_writes_marks(make_engine, model):
    told = make_engine(model, chunk_size=16).model
    assert (told.heads, told.writes_marks, told.buffered) == (("ctc", "whisper"), True, False)


def test_a_decoder_of_windows_hears_silence_behind_a_segment(
    make_engine, model, golden_dir, sounds
):
    samples = soundfile.read(golden_dir / "wavs" / RECORDING, dtype="float32")[0][:48_000]
    scores = []
    for each in (model, make_written_model(golden_dir, window_frames=400)):
        engine = make_engine(each, chunk_size=16)
        heard = sounds.transcribe(engine, samples, StreamConfig(weights={"ctc": 10.0}))
        scores.append(heard.finals[0].alternatives[0].score)
    assert scores[0] != pytest.approx(scores[1], abs=0.01)


def test_all_modes_that_are_told_end(make_engine, model, golden_dir, sounds):
    engine = make_engine(model, chunk_size=16)
    samples = soundfile.read(golden_dir / "wavs" / RECORDING, dtype="float32")[0][:48_000]
    for mode in engine.model.modes:
        heard = sounds.transcribe(engine, samples, StreamConfig(mode=mode))
        assert heard.finals[0].alternatives[0].words


def test_a_decoder_without_tokens_is_refused(make_engine, model):
    with pytest.raises(ModelError, match="tokens"):
        make_engine(replace(model, writer=None))
