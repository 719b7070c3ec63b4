"""Simulated rooms obey acoustics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.training.errors import CorpusError
from earshot.training.recipe.config import WaveformConfig
from earshot.training.waveform.load import load_rooms
from earshot.training.waveform.rooms import (
    SOUND_M_PER_S,
    Room,
    early_reflections,
    from_direct_sound,
    image_sources,
    random_room,
    simulate,
    simulated_rooms,
)

RATE_HZ = 16_000


def room(decay_s: float) -> Room:
    place = np.array([[5.0, 4.0, 3.0], [1.0, 1.0, 1.5], [2.0, 1.0, 1.5]])
    return Room(*place, decay_s)


def test_the_nearest_images_are_the_speaker_and_its_mirrors() -> None:
    distance, amplitude = image_sources(room(0.4), 3.3)
    order = np.argsort(distance, kind="stable")
    reflected = room(0.4).reflection
    across = [np.hypot(1.0, 2.0), 3.0, np.hypot(1.0, 3.0), np.hypot(1.0, 3.0)]
    np.testing.assert_allclose(distance[order], [1.0, *across])  # wall y, wall x, floor, ceiling
    np.testing.assert_allclose(amplitude[order], [1.0, *(reflected / d for d in across)])


def test_the_direct_sound_comes_first_and_a_metre_away_is_one() -> None:
    heard = early_reflections(room(0.4), 400, RATE_HZ)
    arrival = round(1.0 / SOUND_M_PER_S * RATE_HZ)
    assert np.abs(heard).argmax() == arrival
    assert heard[arrival] == pytest.approx(1.0, abs=0.2)  # it falls between two samples
    assert np.abs(heard[: arrival - 21]).max() == 0.0


@pytest.mark.parametrize("decay_s", [0.2, 0.4, 0.6])
def test_sound_dies_in_the_time_asked_for(decay_s: float) -> None:
    response = simulate(room(decay_s), np.random.default_rng(1), RATE_HZ)
    left_db = 10 * np.log10(np.cumsum(response[::-1].astype(np.float64) ** 2)[::-1])
    first, last = np.searchsorted(-left_db, [10.0, 30.0])
    assert (last - first) / RATE_HZ * 3 == pytest.approx(decay_s, rel=0.25)


def test_random_rooms_hold_what_is_in_them() -> None:
    rng = np.random.default_rng(2)
    for found in (random_room(rng) for _ in range(50)):
        for place in (found.speaker, found.microphone):
            assert (place > 0).all()
            assert (place < found.size).all()
        assert 0 <= found.reflection < 1


def test_responses_begin_with_the_direct_sound_and_have_energy_one() -> None:
    for response in simulated_rooms(5, 3, RATE_HZ):
        assert np.abs(response).argmax() == 0
        assert np.square(response).sum() == pytest.approx(1.0, rel=1e-5)


def test_what_comes_before_the_direct_sound_of_a_recording_is_cut() -> None:
    found = from_direct_sound(np.array([0.1, 0.0, -4.0, 3.0]))
    np.testing.assert_allclose(found, [-0.8, 0.6], rtol=1e-6)


def test_the_same_seed_gives_the_same_rooms() -> None:
    once, again, other = (simulated_rooms(2, seed, RATE_HZ) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_a_measured_room_that_is_silent_is_named(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "hall.flac", np.zeros(800), RATE_HZ)
    manifest = tmp_path / "noise.tsv"
    rows = "path\tkind\tset\tseconds\nhall.flac\trir\tsurrey\t0.05\n"
    manifest.write_text(rows, encoding="utf-8")
    config = WaveformConfig(simulated_rooms=1, measured_rooms=("surrey",))
    with pytest.raises(CorpusError, match=r"hall\.flac is silent"):
        load_rooms(manifest, config, seed=1, sample_rate_hz=RATE_HZ)
