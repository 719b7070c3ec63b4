"""Calls of the synthesisers; the synthesisers themselves where they are installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from earshot.training.synthetic.engines import (
    ENGINES,
    FESTIVAL_VOICES,
    Delivery,
    Engine,
    run_program,
)
from earshot.training.synthetic.errors import BadRecording, EngineMissing
from earshot.training.synthetic.recording import SAMPLE_RATE_HZ, speak

SENTENCE = "It's half past three."


def skip_unless_installed(engine: Engine) -> None:
    """Voices included."""
    try:
        engine.require()
    except EngineMissing as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ENGINES)
def test_a_missing_program_is_named_with_its_package(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineMissing, match=f"Debian's package {name}, or choose other engines"):
        ENGINES[name].require()


@pytest.mark.usefixtures("fake_engines")
def test_a_missing_voice_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    ENGINES["espeak-ng"].require()
    monkeypatch.setenv("FAKE_ENGINE_VARIANTS", "!v/m1 !v/m2")
    with pytest.raises(EngineMissing, match=r"lacks the voice \+m3: Debian's package espeak-ng"):
        ENGINES["espeak-ng"].require()


def test_festival_names_the_package_of_a_voice() -> None:
    for voice, package in FESTIVAL_VOICES.items():
        assert ENGINES["festival"].package_of(voice) == package


def test_rate_and_pitch_are_what_an_engine_calls_them() -> None:
    delivery = Delivery("en-gb+f2", rate=1.2, pitch=2**0.2)
    espeak = ENGINES["espeak-ng"].command("hello", delivery)
    assert espeak[espeak.index("-s") + 1] == "198"
    assert espeak[espeak.index("-p") + 1] == "60"
    assert "duration_stretch=0.833" in ENGINES["flite"].command("hello", delivery)
    diphones = ENGINES["festival"].command("hello", Delivery("kal_diphone", rate=1.2))
    assert "'Duration_Stretch 0.833" in diphones[-1]
    statistical = ENGINES["festival"].command("hello", Delivery("cmu_us_slt_arctic_hts", rate=1.2))
    assert '(list "-r" 1.200)' in statistical[-1]


def test_a_program_that_fails_is_quoted() -> None:
    with pytest.raises(BadRecording, match=r"sh failed \(3\): no voice today"):
        run_program(["sh", "-c", "echo no voice today >&2; exit 3"])
    assert run_program(["sh", "-c", "echo yes; exit 3"], good=(0, 3)) == b"yes\n"


@pytest.mark.parametrize("name", ENGINES)
def test_an_installed_engine_speaks_the_same_each_time(name: str) -> None:
    engine = ENGINES[name]
    skip_unless_installed(engine)
    assert engine.version()
    command = engine.command(SENTENCE, Delivery(engine.voices[0]))
    assert run_program(command) == run_program(command)


@pytest.mark.parametrize("name", ENGINES)
def test_an_installed_engine_heeds_rate_and_pitch(name: str) -> None:
    engine = ENGINES[name]
    skip_unless_installed(engine)
    voice = engine.voices[-1]
    seconds = {
        (rate, pitch): len(speak(engine, SENTENCE, Delivery(voice, rate, pitch))) / SAMPLE_RATE_HZ
        for rate, pitch in ((0.8, 1.0), (1.3, 1.0), (1.3, 1.2))
    }
    assert seconds[0.8, 1.0] > 1.25 * seconds[1.3, 1.0]
    assert seconds[1.3, 1.2] == pytest.approx(seconds[1.3, 1.0], rel=0.1)


def test_espeak_voices_are_hundreds() -> None:
    assert len(ENGINES["espeak-ng"].voices) == len(set(ENGINES["espeak-ng"].voices)) > 500
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed (Debian's package espeak-ng)")
    assert not list(ENGINES["espeak-ng"].missing_voices())
