import json
from itertools import islice

import numpy as np
import pytest
import soundfile

from earshot.service.bench.clips import Clip, load_clips, playlist
from earshot.service.errors import StartupError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    for index in range(4):
        soundfile.write(tmp_path / "sub" / f"{index}.flac", np.zeros(800 * (index + 1)), 8000)
    (tmp_path / "LICENCE").write_text("not audio")
    return tmp_path


def test_a_directory_gives_its_audio_at_16_khz(folder):
    clips = load_clips(folder, 10, seed=0)
    assert sorted(clip.duration_s for clip in clips) == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert {clip.text for clip in clips} == {None}


def test_a_tsv_gives_texts(folder):
    (folder / "dev.tsv").write_text('path\ttext\nsub/0.flac\ticed "tea\nsub/1.flac\tcoffee\n')
    clips = load_clips(folder / "dev.tsv", 10, seed=0)
    assert {clip.text for clip in clips} == {'iced "tea', "coffee"}


def test_a_samples_list_gives_texts(folder):
    (folder / "samples.json").write_text(json.dumps([{"file": "sub/2.flac", "text": "tea"}]))
    (clip,) = load_clips(folder / "samples.json", 10, seed=0)
    assert clip.text == "tea"


def test_the_draw_is_random_but_repeatable(folder):
    draws = [[clip.name for clip in load_clips(folder, 2, seed)] for seed in (1, 1, 2, 3, 4)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 1


@pytest.mark.parametrize("name", ["nowhere", "LICENCE"])
def test_nothing_to_speak_is_an_error(folder, name):
    with pytest.raises(StartupError, match=name):
        load_clips(folder / name, 2, 0)


def test_every_round_of_a_playlist_has_every_clip():
    clips = [Clip(str(index), b"") for index in range(5)]
    spoken = list(islice(playlist(clips, 3), 15))
    for start in (0, 5, 10):
        assert set(spoken[start : start + 5]) == set(clips)
    assert spoken[:5] != spoken[5:10] or spoken[5:10] != spoken[10:]
