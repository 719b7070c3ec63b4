"""From somebody's Whisper and somebody's recordings to a model that is served, by one command."""

import queue
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import jiwer
import numpy as np
import pytest
import soundfile

from earshot.service.commands.cli import main
from earshot.service.commands.train import MORE_TO_DO
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Closed, Event, Failed, Final
from earshot.streaming.stream_config import StreamConfig

RATE_HZ = 16_000
TONES_HZ = {
    "low": 500.0, "mid": 1200.0, "high": 2800.0,
    "süß": 500.0, "größer": 2800.0,
}  # fmt: skip
LEXICON = "low L OW1\nmid M IH1 D\nhigh HH AY1\n"
SAID_IN_GERMAN = ("süß", "größer", "süß größer", "größer süß")
SAID = ("low", "mid", "high", "low high", "mid low", "high mid", "low mid", "high low")

ARPA = """\\data\\
ngram 1=5

\\1-grams:
-99 <s>
-0.6 </s>
-0.6 low
-0.6 mid
-0.6 high

\\end\\
"""
COMMON = """
[data]
train_manifest = "train"
dev_manifest = "dev"
noise_manifest = "noise.tsv"
work_dir = "work"
[data.draws_first_epoch]
[data.draws_per_epoch]
train = 1.0
[network]
encoder = "whisper"
pool_after_block = 1
decoder_linear_units = 16
decoder_blocks = 1
decoder_r_blocks = 1
dropout_rate = 0.0
chunk_size = 6
[waveform]
simulated_rooms = 2
[units]
tokens = 12
"""
LEARNING = """
[augment]
from_step = 10000
spec_augment_from_step = 10000
[optimiser]
peak_rate = 1e-2
batch_seconds = 4.0
ctc_weight = 1.0
ctc_only_steps = 0
min_chunk_frames = 2
max_chunk_frames = 8
min_left_frames = 8
[checkpoints]
average = 1
keep = "last"
save_every = 40
dev_utterances = 3
"""
FIRST = """
name = "distilled"
[start]
whisper = "whisper.pt"
[distil]
alone = true
[augment]
from_step = 0
spec_augment_from_step = 10000
[optimiser]
peak_rate = 2e-3
warmup_steps = 5
decay_from_step = 8
total_steps = 10
batch_seconds = 4.0
min_chunk_frames = 2
max_chunk_frames = 8
min_left_frames = 8
[checkpoints]
save_every = 10
dev_utterances = 3
"""
SECOND = """
name = "heads"
common = ["learning.toml"]
[start]
model = "distilled"
[distil]
whisper = "whisper.pt"
weight = 0.01
[phones]
lexicon = "lexicon"
weight = 0.7
sequence_from_step = 280
[optimiser]
group_rates = { encoder = 1e-2, heads = 2e-2, decoder = 0.0 }
warmup_steps = 5
decay_from_step = 260
total_steps = 340
"""
THIRD = """
name = "decoder"
common = ["learning.toml"]
[start]
model = "heads"
[distil]
whisper = "whisper.pt"
weight = 0.01
decoder_weight = 1.0
sentence_corpora = ["train"]
[phones]
lexicon = "lexicon"
weight = 0.7
sequence_from_step = 0
[optimiser]
group_rates = { encoder = 1e-4, heads = 1e-4, decoder = 1e-2 }
warmup_steps = 2
decay_from_step = 30
total_steps = 40
"""
IN_GERMAN = """
name = "german"
common = ["learning.toml"]
[start]
whisper = "whisper.pt"
[distil]
weight = 0.01
[optimiser]
warmup_steps = 5
decay_from_step = 150
total_steps = 180
"""


def tones(text: str) -> np.ndarray:
    """0.3 s for each word, and 0.2 s of silence around them."""
    time_s = np.arange(int(0.3 * RATE_HZ)) / RATE_HZ
    waves = [0.3 * np.sin(2 * np.pi * TONES_HZ[word] * time_s) for word in text.split()]
    return np.pad(np.concatenate(waves), RATE_HZ // 5).astype(np.float32)


def write_kaldi_folder(folder: Path, texts: tuple[str, ...]) -> None:
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        soundfile.write(folder / f"{number}.wav", tones(text), RATE_HZ)
    lines = {
        "wav.scp": [f"u{number} {number}.wav" for number in range(len(texts))],
        "text": [f"u{number} {text.title()}!" for number, text in enumerate(texts)],
    }
    for name, rows in lines.items():
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture
def stages(tmp_path: Path, repository_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A random Whisper of two small layers, two folders of recordings, three recipes."""
    monkeypatch.delenv("EARSHOT_DATA", raising=False)
    write_kaldi_folder(tmp_path / "train", SAID)
    write_kaldi_folder(tmp_path / "dev", SAID[2:5])
    noise = np.random.default_rng(7).normal(0, 0.01, RATE_HZ)
    soundfile.write(tmp_path / "noise.flac", noise, RATE_HZ)
    (tmp_path / "noise.tsv").write_text("path\tkind\tset\tseconds\nnoise.flac\tnoise\ttest\t1.0\n")
    (tmp_path / "lexicon").write_text(LEXICON)
    whispers = repository_dir / "tests" / "golden" / "whisper"
    shutil.copy(whispers / "openai.pt", tmp_path / "whisper.pt")
    shutil.copy(whispers / "hugging_face" / "tokenizer.json", tmp_path)
    own = COMMON.replace("[network]", '[network]\ndecoder = "whisper"')
    for name, recipe in (
        ("distil", FIRST + COMMON), ("heads", SECOND + COMMON), ("decoder", THIRD + own),
    ):  # fmt: skip
        (tmp_path / f"{name}.toml").write_text(recipe)
    (tmp_path / "learning.toml").write_text(LEARNING)
    file = tmp_path / "own.toml"
    file.write_text('stages = ["distil.toml", "heads.toml", "decoder.toml"]\n')
    return file


@pytest.fixture
def graph(tmp_path: Path) -> Callable[[Path], Path]:
    """Builds a graph of the three words, in the model's phones."""

    def build(model: Path) -> Path:
        lm, spellings, out = (tmp_path / name for name in ("arpa", "spellings", "graph"))
        lm.write_text(ARPA)
        spellings.write_text(re.sub(r"\d", "", LEXICON))
        flags = {"lm": lm, "lexicon": spellings, "units": "phones", "model": model, "out": out}
        command = [word for flag, value in flags.items() for word in (f"--{flag}", str(value))]
        assert main(["graph", "build", *command]) == 0
        return out

    return build


def test_a_whisper_becomes_a_model_that_hears_what_it_was_taught(
    stages: Path, graph: Callable[[Path], Path], tmp_path: Path
) -> None:
    model = tmp_path / "model"
    command = ["train", str(stages), "--device", "cpu", "--export", str(model)]
    assert main([*command, "--minutes", "0"]) == MORE_TO_DO
    assert main(command) == 0
    assert (model / "tokenizer.json").exists()  # what its second pass writes with
    texts = heard(model, graph(model), [tones(text) for text in SAID])
    errors = jiwer.process_words(" ".join(SAID), " ".join(texts))
    assert errors.wer < 0.3, texts  # so few updates leave some; who has learnt nothing has 1


def test_a_whisper_learns_the_letters_of_another_language(stages: Path, tmp_path: Path) -> None:
    # Without Whisper's decoder: the toy's tokens for these letters are half letters.
    write_kaldi_folder(tmp_path / "train", SAID_IN_GERMAN)
    write_kaldi_folder(tmp_path / "dev", SAID_IN_GERMAN)
    own = COMMON.replace("[network]", '[network]\nlanguage = "de"\ninitial_blank_logit = 0.0')
    recipe, model = tmp_path / "german.toml", tmp_path / "model"
    recipe.write_text(IN_GERMAN + own.replace("tokens = 12", "tokens = 11"))
    assert main(["train", str(recipe), "--device", "cpu", "--export", str(model)]) == 0
    texts = heard(model, None, [tones(text) for text in SAID_IN_GERMAN], "ctc_greedy_search")
    assert set(SAID_IN_GERMAN[:2]) <= set(" ".join(texts).split()), texts


def test_a_tokenizer_that_is_missing_is_told_before_the_first_stage(
    stages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tokenizer.json").unlink()
    assert main(["train", str(stages), "--device", "cpu"]) == 2
    told = capsys.readouterr()
    assert "no tokenizer.json or vocab.json lies beside" in told.err
    assert "from update 0" not in told.out + told.err
    assert not (tmp_path / "work").exists()


def heard(
    model: Path,
    graph: Path | None,
    recordings: Sequence[np.ndarray],
    mode: str = "ctc_wfst_beam_search",
) -> list[str]:
    """What an engine tells of streams, each in chunks as it comes."""
    config = EngineConfig(threads=1, max_streams=len(recordings))
    files = {} if graph is None else {"graph": graph}
    engine = build_engine(model, files, config, device="cpu")
    engine.start()
    listeners: list[queue.Queue[Event]] = []
    try:
        for samples in recordings:
            listeners.append(queue.Queue())
            stream = engine.open(StreamConfig(mode=mode), listeners[-1].put)
            stream.push(samples)
            stream.finish()
        return [final_text(events) for events in listeners]
    finally:
        assert engine.stop(60)


def final_text(events: queue.Queue[Event]) -> str:
    """Of all finals of a stream."""
    texts = []
    while not isinstance(event := events.get(timeout=60), Closed):
        assert not isinstance(event, Failed), event
        if isinstance(event, Final):
            texts.append(event.alternatives[0].text)
    return " ".join(texts)
