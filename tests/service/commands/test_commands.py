"""Commands on a real model: the golden WeNet directory."""

import json
import shutil
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from nemo_writer import options, write_archive

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import write_graph
from earshot.language.g2p.lexicon import Lexicon
from earshot.service.commands.cli import main
from earshot.service.core import engine_setup
from earshot.service.core.engine_setup import running_engine, warm_up
from earshot.service.settings import Settings
from earshot.service.writing import Writing
from earshot.streaming.assembly.families import FAMILIES
from earshot.streaming.events import Word

LIBRISPEECH = (
    "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON ITSELF "
    "BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
)
AISHELL = "广州市房地产中介协会分析"


@pytest.fixture
def model(golden_dir):
    return str(golden_dir / "u2pp_conformer")


@pytest.fixture
def wavs(golden_dir):
    return sorted(str(path) for path in (golden_dir / "wavs").glob("*.wav"))


def test_transcribe_writes_the_text(capsys, model, wavs):
    assert main(["transcribe", wavs[1], "--model", model]) == 0
    assert capsys.readouterr() == (LIBRISPEECH + "\n", "")


@pytest.mark.parametrize("rate_hz", [8000, 22050])
def test_a_model_of_another_sample_rate_hears_audio_as_long_as_it_is(
    capsys, model, wavs, tmp_path, rate_hz
):
    other = shutil.copytree(model, tmp_path / "other", copy_function=shutil.copyfile)
    other.chmod(0o755)
    train = (other / "train.yaml").read_text()
    assert "resample_rate: 16000" in train
    (other / "train.yaml").write_text(train.replace("rate: 16000", f"rate: {rate_hz}"))
    assert main(["transcribe", wavs[1], "--model", str(other), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    seconds = soundfile.info(wavs[1]).duration
    assert answer["metadata"]["duration"] == pytest.approx(seconds, abs=0.01)


def test_transcribe_reads_standard_input(capsys, monkeypatch, model, wavs):
    with Path(wavs[1]).open("rb") as sound:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=sound))
        assert main(["transcribe", "-", "--model", model]) == 0
    assert capsys.readouterr() == (LIBRISPEECH + "\n", "")


def test_transcribe_names_files_when_there_are_several(capsys, model, wavs):
    assert main(["transcribe", *wavs, "--model", model, "--mode", "ctc_greedy_search"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"==> {wavs[0]} <==", AISHELL, f"==> {wavs[1]} <==", LIBRISPEECH]


def test_transcribe_writes_subtitles_into_a_directory(model, wavs, tmp_path):
    command = ["transcribe", *wavs, "--format", "srt", "--output-dir", str(tmp_path)]
    assert main([*command, "--model", model]) == 0
    files = sorted(tmp_path.iterdir())
    assert [file.suffix for file in files] == [".srt", ".srt"]
    cues = [block.split("\n", 2)[2] for block in files[1].read_text().strip().split("\n\n")]
    assert " ".join(cues) == LIBRISPEECH


def test_transcribe_goes_on_after_a_file_that_is_none(capsys, model, wavs, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert main(["transcribe", str(tmp_path / "notes.txt"), wavs[0], "--model", model]) == 1
    captured = capsys.readouterr()
    assert AISHELL in captured.out
    assert "notes.txt: the bytes are of no audio format we know" in captured.err


def test_transcribe_refuses_two_files_of_one_output_name(capsys, model, tmp_path):
    command = ["transcribe", "a/talk.wav", "b/talk.mp3", "--model", model]
    assert main([*command, "--output-dir", str(tmp_path)]) == 2
    assert "would write the same file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_bench_refuses_a_result_file_it_could_not_write_before_it_measures(capsys, tmp_path):
    assert main(["bench", "--json", str(tmp_path / "absent" / "x.json")]) == 2
    assert "no such directory" in capsys.readouterr().err


def test_models_describes_a_directory(capsys, model):
    assert main(["models", model, "--json"]) == 0
    description = json.loads(capsys.readouterr().out)
    assert (description["name"], description["parameters"]) == ("u2pp_conformer", 535_553)
    assert (description["heads"], description["buffered"]) == (["ctc", "attention"], False)
    assert description["chunks_ms"][-1] == "whole"


def test_models_lists_in_plain_words(capsys, model):
    assert main(["models", model]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert (lines["heads"], lines["buffered"], lines["languages"]) == (
        "ctc, attention", "no", "none",
    )  # fmt: skip


@pytest.fixture
def no_model(monkeypatch):
    def load(*_):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(engine_setup, "load_engine", load)


@pytest.mark.usefixtures("no_model")
def test_transcribe_loads_no_model_where_no_file_can_be_read(capsys, tmp_path):
    picture = tmp_path / "cat.jpg"
    picture.write_bytes(b"\xff\xd8\xff\xe0" + bytes(99))
    assert main(["transcribe", "a.wav", str(picture)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "a.wav: cannot be read: No such file" in first
    assert "cat.jpg: the bytes are of no audio format we know" in second


def test_transcribe_takes_the_audio_of_a_folder_into_one_that_it_makes(
    capsys, model, wavs, tmp_path
):
    talks = tmp_path / "talks"
    (talks / "more").mkdir(parents=True)
    (talks / "notes.txt").write_text("hello")
    for wav in wavs:
        shutil.copyfile(wav, talks / Path(wav).name)
    out = tmp_path / "texts" / "new"
    assert main(["transcribe", str(talks), "--model", model, "--output-dir", str(out)]) == 0
    assert capsys.readouterr() == ("", "")
    texts = [file.read_text() for file in sorted(out.iterdir())]
    assert texts == [AISHELL + "\n", LIBRISPEECH + "\n"]


@pytest.mark.usefixtures("no_model")
def test_a_folder_without_audio_is_one_line(capsys, tmp_path):
    assert main(["transcribe", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("there is no audio file in this folder\n")


def test_transcribe_hears_channels_apart_with_other_readings_and_paragraphs(
    capsys, model, wavs, tmp_path
):
    first, second = (soundfile.read(wav)[0] for wav in wavs)
    both = np.zeros((max(len(first), len(second)), 2))
    both[: len(first), 0], both[: len(second), 1] = first, second
    soundfile.write(tmp_path / "call.wav", both, 16_000)
    command = ["transcribe", str(tmp_path / "call.wav"), "--model", model, "--multichannel"]
    assert main([*command, "--format", "json", "--alternatives", "2", "--paragraphs"]) == 0
    channels = json.loads(capsys.readouterr().out)["results"]["channels"]
    best = [channel["alternatives"][0] for channel in channels]
    assert [each["transcript"] for each in best] == [AISHELL, LIBRISPEECH]
    assert all(each["paragraphs"]["paragraphs"] for each in best)
    assert [len(channel["alternatives"]) for channel in channels] == [2, 2]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith(f"[channel 0] {AISHELL}\n[channel 1] IT WAS")


@pytest.mark.parametrize("command", ["serve", "transcribe", "models"])
def test_a_directory_that_is_no_model_is_one_line(capsys, tmp_path, command):
    words = {"serve": ["--port", "0"], "transcribe": ["-"], "models": []}[command]
    flag = [str(tmp_path)] if command == "models" else ["--model", str(tmp_path)]
    assert main([command, *words, *flag]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path) in line


@pytest.mark.parametrize("command", [["serve"], ["transcribe", "-"], ["listen"]])
def test_a_model_by_its_name_is_one_line(capsys, command):
    assert main([*command, "--model", "base.en"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--model base.en: there is no such file or folder" in line
    assert "none is fetched by its name" in line


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["transcribe", "-"]])
def test_a_gpu_that_is_not_here_is_one_line(capsys, monkeypatch, command):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main([*command, "--device", "cuda"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "device cuda: torch finds no CUDA device" in line


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["transcribe", "-"], ["models"]])
def test_a_graph_that_is_none_or_of_other_units_is_one_line(capsys, tmp_path, command):
    path = tmp_path / "tea.graph"
    path.write_bytes(b"tea")
    other = Graph.from_arcs([], {0: 0.0}, 1, topology="compact", vocab_size=9, word_texts=["<eps>"])
    assert main([*command, "--graph", str(path)]) != 0
    write_graph(path, other)
    assert main([*command, "--graph", str(path)]) != 0
    first, second = capsys.readouterr().err.splitlines()
    assert f"cannot use the graph {path}: tea.graph is not a compiled graph" in first
    assert f"cannot use the graph {path}: the graph was built for 9 units" in second


def test_warming_up_leaves_no_stream_behind(engine):
    warm_up(engine)
    assert engine.opened[0].decoded_s == 1.0
    assert engine.streams == []


def test_warming_up_sorts_the_lexicon_before_a_client_boosts_a_new_word(monkeypatch):
    asked = []
    pronounce = Lexicon.pronounce

    def noting(self, word):
        asked.append(word)
        return pronounce(self, word)

    monkeypatch.setattr(Lexicon, "pronounce", noting)
    with running_engine(Settings(max_streams=1)) as engine:
        asked.clear()  # what building an engine asks for
        warm_up(engine)
    assert len(asked) == 1


@pytest.fixture
def microphone(monkeypatch, wavs):
    """A sounddevice whose microphone plays a recording, then Ctrl-C."""
    import soundfile

    audio, _ = soundfile.read(wavs[0], dtype="float32")

    class InputStream:
        def __init__(self, *, blocksize, callback, **_):
            self.blocksize, self.callback = blocksize, callback

        def __enter__(self):
            for at in range(0, len(audio), self.blocksize):
                block = audio[at : at + self.blocksize, None]
                self.callback(block, len(block), None, None)
            raise KeyboardInterrupt

        def __exit__(self, *_):
            return None

    module = types.ModuleType("sounddevice")
    module.InputStream = InputStream
    module.PortAudioError = type("PortAudioError", (Exception,), {})
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    return module


@pytest.mark.usefixtures("microphone")
def test_listen_writes_what_was_said_when_interrupted(capsys, model):
    assert main(["listen", "--model", model]) == 0
    assert capsys.readouterr().out == AISHELL + "\n"


@pytest.mark.usefixtures("microphone")
@pytest.mark.parametrize(("flags", "written"), [((), "Ja, gut."), (("--no-punctuate",), "ja gut")])
def test_listen_writes_capitals_and_marks_unless_told_not_to(
    capsys, model, monkeypatch, flags, written
):
    of = Writing.of

    def marked(self, result):
        words = [Word("ja", 0, 1, 1, written="Ja,"), Word("gut", 1, 2, 1, written="gut.")]
        said = replace(result.alternatives[0], text="ja gut", words=tuple(words))
        return of(self, replace(result, alternatives=(said,)))

    monkeypatch.setattr(Writing, "of", marked)
    assert main(["listen", "--model", model, *flags]) == 0
    assert capsys.readouterr().out == written + "\n"


@pytest.mark.usefixtures("microphone")
@pytest.mark.parametrize("command", ["listen", "transcribe -"])
def test_a_language_that_the_model_does_not_know_is_one_line(capsys, model, monkeypatch, command):
    monkeypatch.setenv("EARSHOT_LANGUAGES", "zh-CN")
    assert main([*command.split(), "--model", model, "--language", "fr"]) == 2
    assert "language=fr: not served here; the model knows zh-CN" in capsys.readouterr().err


def test_listen_without_a_microphone_is_one_line(capsys, model, microphone):
    def none(**_):
        raise microphone.PortAudioError("no default input device")

    microphone.InputStream = none
    assert main(["listen", "--model", model]) == 2
    assert "no default input device" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["serve --model", "models", "transcribe --model"])
def test_a_model_that_nothing_recognises_with_is_read_and_named(
    capsys, tmp_path, monkeypatch, command
):
    monkeypatch.delitem(FAMILIES, "fastconformer")
    path = write_archive(tmp_path / "tiny.nemo", options("EncDecCTCModel"))
    words = [*command.split(), str(path), *(["-"] if "transcribe" in command else [])]
    assert main(words) > 0
    told = capsys.readouterr().err
    assert f"cannot use the model {path}: it is a sound model of the family 'fastconformer'" in told
