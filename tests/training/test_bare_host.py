"""A borrowed host has torch and little else: training imports nothing that is not carried there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

from earshot.training.__main__ import MORE_TO_COME, main
from earshot.training.recipe.config import DataConfig

# docs/training.md says so. Ours is there as source: nothing compiles the kernels.
THERE = ("torch", "numpy", "safetensors", "sentencepiece", "pyyaml", "tqdm")
ELSEWHERE = ("decoder_kernels", "service", "streaming")
START = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split(",")))
sys.argv[0] = sys.argv.pop(1)
import runpy
runpy.run_path(sys.argv[0], run_name="__main__")
"""
RECIPE = """
name = "tones"
[data]
train_manifest = "{folder}/train.tsv"
dev_manifest = "{folder}/dev.tsv"
noise_manifest = "{folder}/noise.tsv"
work_dir = "work"
draws_first_epoch = {{ clips = 1.0 }}
draws_per_epoch = {{ clips = 1.0 }}
[units]
pieces = 12
[waveform]
simulated_rooms = 2
[phones]
lexicon = "{lexicon}"
rate = 2
sequence_from_step = 1
[network]
output_size = 16
linear_units = 16
num_blocks = 1
decoder_linear_units = 16
decoder_blocks = 1
[optimiser]
warmup_steps = 1
decay_from_step = 2
total_steps = 3
ctc_only_steps = 1
[checkpoints]
save_every = 2
keep = "last"
average = 1
"""


def plain(name: str) -> str:
    """A distribution's name as all of its spellings agree on."""
    return re.sub(r"[-_.]+", "-", name).lower()


def with_needs(names: set[str]) -> set[str]:
    """Distributions and all that they need."""
    found: set[str] = set()
    while names:
        name = names.pop()
        found.add(name)
        try:
            needs = requires(name) or ()
        except PackageNotFoundError:  # for another machine
            needs = ()
        wanted = {re.split(r"[^\w.-]", need)[0] for need in needs if "extra ==" not in need}
        names |= {plain(each) for each in wanted} - found
    return found


@pytest.fixture(scope="module")
def absent(repository_dir: Path) -> str:
    """Modules that are here and would not be there."""
    makefile = (repository_dir / "Makefile").read_text(encoding="utf-8")
    carried = re.findall(r"^HOST_PACKAGES := (.*)$", makefile, re.MULTILINE)[0].lower().split()
    there = with_needs(set(THERE)) | set(carried)
    modules = packages_distributions().items()
    found = [name for name, owners in modules if not {plain(each) for each in owners} & there]
    return ",".join([*ELSEWHERE, *found])


def on_host(repository_dir: Path, absent: str, script: str, *words: object) -> tuple[int, str]:
    """Runs a script of the checkout as a bare host would; its exit code, and what it said."""
    command = [sys.executable, "-c", START, absent, str(repository_dir / script), *map(str, words)]
    done = subprocess.run(
        command,
        cwd=repository_dir,
        env={"PYTHONPATH": str(repository_dir), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def recipe(tone_data: DataConfig, lexicon: Path, tmp_path: Path) -> Path:
    path = tmp_path / "tones.toml"
    ignored = shutil.ignore_patterns("work")
    shutil.copytree(tone_data.train_manifest.parent, tmp_path / "data", ignore=ignored)
    path.write_text(RECIPE.format(folder=tmp_path / "data", lexicon=lexicon), encoding="utf-8")
    return path


def test_what_only_our_machines_have_is_known_to_be_absent(absent: str) -> None:
    modules = set(absent.split(","))
    assert {"av", "soxr", "pydantic", "pytest"} <= modules
    assert not {"torch", "sympy", "yaml", "soundfile", "_soundfile", "jiwer"} & modules


def test_a_call_trains_with_what_a_host_has(
    repository_dir: Path, absent: str, recipe: Path, tmp_path: Path
) -> None:
    luggage, output = tmp_path / "luggage", tmp_path / "output"
    assert main(["pack", str(recipe), "--output", str(luggage)]) == 0
    call = ("host", recipe, "--pieces", luggage, "--output", output, "--minutes", 5)
    script = "training/__main__.py"
    piece = (luggage / "piece-000").rename(tmp_path / "piece-000")
    code, said = on_host(repository_dir, absent, script, *call)
    assert code == MORE_TO_COME, said
    piece.rename(luggage / "piece-000")
    code, said = on_host(repository_dir, absent, script, *call)
    assert code == 0, said
    assert (output / "piece-000").is_file()


def test_a_call_that_waits_measures_with_what_a_host_has(repository_dir: Path, absent: str) -> None:
    code, said = on_host(repository_dir, absent, "benchmarks/training_speed.py", "--help")
    assert code == 0, said
