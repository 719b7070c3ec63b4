"""The example of docs/library.md runs, with a model in `transformers` that says one sentence."""

import re
import subprocess
import sys

import numpy as np
import pytest
import soundfile

import earshot
from earshot.streaming.posteriors import ctc_decoder, ctc_result, ctc_tokens

ARPA = """\\data\\
ngram 1=4

\\1-grams:
-99\t<s>
-1\t</s>
-0.5\thello
-0.5\tworld

\\end\\
"""
TRANSFORMERS = '''"""As much of the library as the example asks for."""

from types import SimpleNamespace

import torch

SYMBOLS = ["<pad>", "<s>", "</s>", "<unk>", "|", *"EHLOWRD"]


class AutoProcessor:
    tokenizer = SimpleNamespace(get_vocab=lambda: {s: i for i, s in enumerate(SYMBOLS)})

    @classmethod
    def from_pretrained(cls, name):
        return cls()

    def __call__(self, samples, sampling_rate, return_tensors):
        return SimpleNamespace(input_values=torch.tensor(samples)[None])


class AutoModelForCTC:
    @classmethod
    def from_pretrained(cls, name):
        return cls()

    def __call__(self, input_values):
        frames = [each for letter in "HELLO|WORLD" for each in (SYMBOLS.index(letter), 0)]
        logits = torch.zeros(1, len(frames), len(SYMBOLS))
        logits[0, range(len(frames)), frames] = 12.0
        return SimpleNamespace(logits=logits)
'''


@pytest.fixture
def document(repository_dir):
    return (repository_dir / "docs" / "library.md").read_text()


def test_the_example_runs(document, tmp_path):
    (tmp_path / "transformers.py").write_text(TRANSFORMERS)
    (tmp_path / "lm.arpa").write_text(ARPA)
    soundfile.write(tmp_path / "talk.wav", np.zeros(1600), 16_000)
    [example] = re.findall(r"```python\n(.*?)```", document, re.S)
    ended = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    told = [line.split() for line in ended.stdout.splitlines()]
    assert [(word, start, end) for word, start, end, _ in told] == [
        ("hello", "0", "9"), ("world", "12", "21"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kind", [ctc_decoder.CtcDecoder, ctc_tokens.CtcTokens, ctc_result.CtcResult]
)
def test_all_that_it_takes_and_gives_is_described(document, kind):
    names = {name for name in (*kind.__init__.__annotations__, *vars(kind)) if name[0] != "_"}
    told = {"return", "frames", "tokenizer", "units", "spellings", "vocab_size", "symbols"}
    assert [name for name in sorted(names - told) if name not in document] == []


def test_the_public_names_are_the_ones_it_speaks_of():
    assert {"CtcDecoder", "CtcTokens", "GraphSearchConfig", "build_graph"} <= set(earshot.__all__)
