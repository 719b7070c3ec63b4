"""`earshot bench` as a whole: its own server, its own load, its result."""

import argparse
import asyncio
import json

import pytest
import soundfile

from earshot.service.bench.measurements import Heard, Measurements
from earshot.service.commands import bench
from earshot.service.commands.cli import main


def test_it_measures_a_server_of_its_own(capsys, golden_dir, tmp_path):
    (tmp_path / "audio").mkdir()
    for index, wav in enumerate(sorted((golden_dir / "wavs").glob("*.wav"))):
        audio, rate = soundfile.read(wav, frames=16000)
        soundfile.write(tmp_path / "audio" / f"{index}.flac", audio, rate)
    command = ["bench", "--streams", "2", "--duration", "4", "--audio", str(tmp_path / "audio")]
    result = tmp_path / "result.json"
    model = str(golden_dir / "u2pp_conformer")
    # Whether two streams hold depends on what else this machine does; what they heard does not.
    assert main([*command, "--json", str(result), "--", "--model", model]) in (0, 1)
    written = json.loads(result.read_text())
    (run,) = written["runs"]
    assert (written["model"], written["clips"], run["streams"]) == ("u2pp_conformer", 2, 2)
    assert (run["failures"], run["wer_to_alone"]) == (0, 0.0)
    assert run["utterances"] >= 4
    assert run["cpu_s_per_audio_s"] > 0
    assert "partial p50/p95/p99 ms" in capsys.readouterr().out


@pytest.mark.parametrize("duration", ["0", "-3", "nan", "inf", "soon"])
def test_a_duration_that_is_none_is_refused(capsys, duration):
    with pytest.raises(SystemExit) as caught:
        main(["bench", f"--duration={duration}"])
    assert caught.value.code == 2
    assert f"'{duration}' is no number of seconds above 0" in capsys.readouterr().err


@pytest.mark.parametrize("streams", ["abc", "0", "1.5"])
def test_a_count_that_is_none_is_refused_in_plain_words(capsys, streams):
    with pytest.raises(SystemExit):
        main(["bench", "--streams", streams])
    assert f"--streams: '{streams}' is no whole number of 1 or more" in capsys.readouterr().err


def test_a_window_too_short_for_an_utterance_is_refused(capsys, tmp_path):
    soundfile.write(tmp_path / "long.wav", [0.0] * 32000, 16000)
    assert main(["bench", "--audio", str(tmp_path), "--duration", "1.5"]) == 2
    assert "--duration 1.5: the longest utterance takes 2.0 s" in capsys.readouterr().err


def test_a_server_that_does_not_start_says_why(capsys, golden_dir, tmp_path):
    words = ["bench", "--audio", str(golden_dir / "wavs"), "--", "--model", str(tmp_path)]
    assert main(words) == 2
    assert f"cannot use the model {tmp_path}" in capsys.readouterr().err


@pytest.mark.parametrize(("ramp", "counts"), [(False, [8]), (True, [8, 10, 12])])
def test_a_ramp_goes_on_until_a_count_does_not_hold(monkeypatch, ramp, counts):
    async def alone(*_):
        return {}

    async def load(target, clips, alone, streams, duration_s, seed):
        latency_s = 0.1 if streams < 12 else 3.0
        heard = [Heard(at, latency_s, "a", "a", "a", None) for at in range(9)]
        return Measurements(streams, duration_s, heard=heard, audio_s=1.0)

    monkeypatch.setattr(bench, "texts_alone", alone)
    monkeypatch.setattr(bench, "run_load", load)
    arguments = argparse.Namespace(streams=8, duration=1.0, ramp=ramp, seed=0)
    summaries = asyncio.run(bench._measure(None, [], arguments))
    assert [summary.streams for summary in summaries] == counts
    assert [summary.holds for summary in summaries] == [True] * (len(counts) - ramp) + [
        False
    ] * ramp
