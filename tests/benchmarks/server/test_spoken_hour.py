"""Speech laid end to end."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from benchmarks.server.spoken_hour import RATE_HZ, lay_out, loud_part

SPOKEN = np.concatenate([np.zeros(800), np.full(1600, 0.5), np.zeros(800)]).astype(np.float32)


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    """A folder with one utterance, a tenth of a second between two silences."""
    soundfile.write(tmp_path / "one.wav", SPOKEN, RATE_HZ)
    header = "path\tcorpus\tspeaker\tseconds\ttext\tslots\n"
    for name, rows in (("dev", "one.wav\tlibrispeech\tann\t0.2\tone\t\n"), ("train", "")):
        (tmp_path / f"{name}.tsv").write_text(header + rows)
    return tmp_path


def test_silence_around_a_recording_is_no_part_of_it() -> None:
    assert np.array_equal(loud_part(SPOKEN), SPOKEN[800:2400])


def test_utterances_have_pauses_between_them(speech: Path) -> None:
    hour = lay_out(speech, speech / "hour.wav", 0.1, seed=1, pauses_s=(0.5,))
    assert (hour.duration_s, hour.text) == (0.7, "one")


def test_without_pauses_the_silence_around_them_goes_too(speech: Path) -> None:
    hour = lay_out(speech, speech / "hour.wav", 0.1, seed=1, pauses_s=())
    assert hour.duration_s == 0.1
