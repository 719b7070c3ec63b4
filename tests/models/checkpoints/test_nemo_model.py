"""Whole .nemo archives: NeMo's own come in and give its numbers, spoilt ones are refused."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from nemo_writer import LABELS, options, saved, weights, write_archive

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import (
    CheckpointError,
    ConfigError,
    DamagedWeights,
    MissingKeys,
    NotACheckpoint,
    ShapeMismatch,
    TokenizerError,
    UnknownKeys,
    UnsafeCheckpoint,
)
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.native.late_weights import bring_all
from earshot.models.tokenizers.units import CtcUnits

CTC, RNNT = "EncDecCTCModel", "EncDecRNNTModel"
GOLDEN = (
    "rnnt_offline",
    "tdt_offline",
    "hybrid_tdt_ctc",
    "ctc_offline",
    "rnnt_streaming",
    "conformer_ctc_striding4",
    "conformer_rnnt_striding4",
)
UNKNOWN = " \u2047 "
"""NeMo's text for the unknown piece, which leaves nothing in ours."""


@pytest.fixture(scope="session")
def nemo_dir(shared_dir: Path) -> Path:
    folder = shared_dir / "golden" / "nemo"
    if not folder.exists():
        pytest.skip(f"shared data is missing: {folder}")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "tiny.nemo", options(CTC))


@pytest.mark.parametrize("name", GOLDEN)
def test_an_archive_of_nemos_comes_in_and_encodes_as_it_does(nemo_dir, name):
    loaded = load_model(nemo_dir / f"{name}.nemo")
    assert (loaded.name, loaded.format, loaded.family) == (name, "nemo", "fastconformer")
    assert loaded.weights == nemo_dir / f"{name}.nemo"
    assert isinstance(loaded.model, FastConformerModel)
    with np.load(nemo_dir / f"{name}.npz") as arrays:
        lengths, expected, frames = (
            torch.from_numpy(arrays[key])
            for key in ("feature_lengths", "encoded", "encoded_lengths")
        )
    model = loaded.model
    with np.load(nemo_dir / "audio.npz") as audio:
        samples, counts = torch.from_numpy(audio["audio"]), torch.from_numpy(audio["lengths"])
    with torch.no_grad():
        heard = model.features(samples, counts)
        encoded, found = model.encode(heard, lengths)
    assert found.tolist() == frames.tolist()
    for row, count in enumerate(frames.tolist()):
        theirs = expected[row, :, :count].T
        torch.testing.assert_close(encoded[row, :count], theirs, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", GOLDEN)
def test_units_are_spelt_as_nemo_spells_them(nemo_dir, name):
    loaded = load_model(nemo_dir / f"{name}.nemo")
    told = json.loads((nemo_dir / f"{name}.json").read_text())
    assert loaded.tokenizer.vocab_size == told["vocab_size"]
    for clip in told["public_api"]:
        units = labels_of(clip["y"], loaded.tokenizer.vocab_size)
        text = loaded.tokenizer.decode(units)
        assert text == clip["text"].replace(UNKNOWN, "").strip()
        assert text == " ".join(word for word, _, _ in loaded.tokenizer.word_spans(units))


def labels_of(frames: list[int], blank: int) -> list[int]:
    """Units of CTC's frames; a transducer's have no blank, and stay as they are."""
    if blank not in frames:
        return frames
    changes = [
        unit for unit, before in zip(frames, [blank, *frames], strict=False) if unit != before
    ]
    return [unit for unit in changes if unit != blank]


@pytest.mark.parametrize(
    ("kind", "ctc"),
    [(CTC, CtcUnits(len(LABELS))), (RNNT, None), ("EncDecHybridRNNTCTCModel", CtcUnits(5))],
)
def test_a_small_archive_comes_in_with_the_heads_it_has(tmp_path, kind, ctc):
    values = options(kind)
    loaded = load_model(write_archive(tmp_path / "tiny.nemo", values))
    assert (loaded.name, loaded.ctc, loaded.directory) == ("tiny", ctc, None)
    assert loaded.languages == ()
    assert not loaded.model.training
    assert not any(weight.requires_grad for weight in loaded.model.parameters())
    expected = weights(values)
    found = loaded.model.state_dict()
    assert torch.equal(
        found["encoder.pre_encode.out.weight"], expected["encoder.pre_encode.out.weight"]
    )


def test_a_model_with_a_prompt_says_its_languages(tmp_path):
    values = options(
        RNNT.replace("Model", "BPEModelWithPrompt"),
        model_defaults__initialize_prompt_feature=True,
        model_defaults__prompt_dictionary={"en-US": 0, "de": 1, "auto": 2},
        tokenizer={"type": "wpe", "vocab_path": "nemo:vocab.txt"},
    )
    table = "\n".join(map(str, range(len(LABELS)))).encode()
    path = write_archive(tmp_path / "tiny.nemo", values, {"vocab.txt": table})
    loaded = load_model(path)
    assert loaded.languages == ("en-US", "de")
    assert loaded.model.state_dict()["prompt.0.weight"].shape == (16, 8 + 128)


def test_a_compressed_archive_and_a_directory_with_one_come_in(tmp_path, path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "x.nemo").write_bytes(gzip.compress(path.read_bytes()))
    loaded = load_model(folder)
    assert (loaded.name, loaded.directory, loaded.weights) == ("folder", folder, folder / "x.nemo")


def test_weights_in_torchs_first_format_come_in(tmp_path):
    content = io.BytesIO()
    torch.save(weights(options(RNNT)), content, _use_new_zipfile_serialization=False)
    legacy = {"model_weights.ckpt": content.getvalue()}
    path = write_archive(tmp_path / "tiny.nemo", options(RNNT), legacy)
    assert load_model(path).model.state_dict().keys()


def test_the_tokenizer_and_the_heads_must_agree(tmp_path):
    values = options("EncDecCTCModelBPE", tokenizer={"type": "wpe", "vocab_path": "nemo:vocab.txt"})
    path = write_archive(tmp_path / "tiny.nemo", values, {"vocab.txt": b"a\nb\n"})
    with pytest.raises(TokenizerError, match="has 2 units, the model 5"):
        load_model(path)


def test_weights_and_configuration_must_agree(tmp_path):
    values, path = options(CTC), tmp_path / "tiny.nemo"
    good = weights(values)
    bias = "decoder.decoder_layers.0.bias"
    for tensors, error, named in (
        ({name: good[name] for name in good if name != bias}, MissingKeys, r"ctc\.output\.bias"),
        ({**good, "encoder.layers.7.norm_out.bias": good[bias]}, UnknownKeys, r"layers\.7"),
        ({**good, "speaker_kernel.bias": good[bias]}, UnknownKeys, "speaker_kernel"),
        ({**good, bias: torch.zeros(9)}, ShapeMismatch, r"ctc\.output\.bias"),
        ({**good, bias: good[bias] * torch.nan}, DamagedWeights, r"ctc\.output\.bias"),
    ):
        write_archive(path, values, tensors=tensors)
        with pytest.raises(error, match=named):
            load_model(path)


def test_a_boastful_configuration_takes_no_memory(tmp_path):
    values = options(CTC, encoder__d_model=4096, encoder__n_layers=256, decoder__feat_in=4096)
    path = write_archive(tmp_path / "tiny.nemo", values, tensors=weights(options(CTC)))
    with pytest.raises(MissingKeys):
        load_model(path)


def test_no_model_brings_torchs_compiler_with_it(tmp_path):
    values = options(CTC)
    path = write_archive(tmp_path / "tiny.nemo", values, tensors=weights(values))
    script = (
        "import sys; from pathlib import Path\n"
        "from earshot.models.checkpoints.checkpoint import load_model\n"
        f"load_model(Path({str(path)!r}))\n"
        "heavy = {'sympy', 'torch._dynamo'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("mode", ["w:", "w:gz"])
def test_layers_may_wait_for_their_weights(tmp_path, mode):
    values = options(CTC)
    tensors = weights(values)
    path = write_archive(tmp_path / "tiny.nemo", values, mode=mode, tensors=tensors)
    expected, late = load_model(path).model, load_model(path, late=True).model
    waiting = {name for name, weight in late.named_parameters() if weight.is_meta}
    assert waiting == {name for name, _ in late.named_parameters() if ".layers." in name}
    path.unlink()
    bring_all(late)
    for name, weight in expected.state_dict().items():
        assert torch.equal(late.state_dict()[name], weight), name


class Attack:
    """Makes a directory when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_code_in_the_weights_is_refused_and_not_run(tmp_path):
    attack = saved({"weight": Attack(tmp_path / "pwned")})
    path = write_archive(tmp_path / "tiny.nemo", options(CTC), {"model_weights.ckpt": attack})
    with pytest.raises(UnsafeCheckpoint, match=r"tiny\.nemo: model_weights\.ckpt was refused"):
        load_model(path)
    assert not (tmp_path / "pwned").exists()


def test_a_tensor_that_repeats_one_number_is_refused(tmp_path):
    huge = {"weight": torch.zeros(1).expand(100_000, 100_000)}
    path = write_archive(tmp_path / "tiny.nemo", options(CTC), tensors=huge)
    with pytest.raises(UnsafeCheckpoint, match="claims"):
        load_model(path)


@pytest.mark.parametrize(
    ("text", "error", "named"),
    [
        (b"", CheckpointError, "not a mapping"),
        (b"[" * 100_000, CheckpointError, "not YAML"),
        (b"a: !!python/object/apply:os.getcwd []", CheckpointError, "not YAML"),
        (b"\xff\xfe", NotACheckpoint, "no text"),
        (b"a: &a {b: c}\nd: {<<: *a}", UnsafeCheckpoint, "merge keys"),
        (b" " * 5_000_000, UnsafeCheckpoint, "too large"),
        (b"target: [x]", ConfigError, ": target is "),
    ],
    ids=["empty", "nested", "object", "binary", "merge", "huge", "target"],
)
def test_a_spoilt_configuration_is_refused(tmp_path, text, error, named):
    path = write_archive(tmp_path / "tiny.nemo", options(CTC), {"model_config.yaml": text})
    with pytest.raises(error, match=named):
        load_model(path)


def test_laughs_by_the_billion_are_not_laughed(tmp_path):
    lines = ["l0: &l0 [ha, ha]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 40)]
    for key in ("labels", "encoder", "target", "decoder"):
        text = "\n".join([*lines, f"{key}: *l39"]).encode()
        path = write_archive(tmp_path / "tiny.nemo", options(CTC), {"model_config.yaml": text})
        with pytest.raises(ConfigError):
            load_model(path)


@pytest.mark.parametrize("kept", [0, 100, 512, 5_000, 20_000])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_truncated_archive_is_refused(path, kept, compressed):
    content = path.read_bytes()
    path.write_bytes((gzip.compress(content) if compressed else content)[:kept])
    with pytest.raises(NotACheckpoint):
        load_model(path)


def test_something_else_by_that_name_is_refused(tmp_path):
    (tmp_path / "x.nemo").write_bytes(b"<html>" * 1000)
    with pytest.raises(NotACheckpoint, match="no tar archive"):
        load_model(tmp_path / "x.nemo")


def test_reading_leaves_no_file_open(path, recwarn):
    load_model(path)
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]


@pytest.mark.parametrize(
    "name", ["encoder.layers.0.conv.batch_norm.running_var", "preprocessor.featurizer.fb"]
)
def test_weights_below_zero_where_roots_are_taken_are_refused(tmp_path, name):
    values = options("EncDecCTCModel")
    tensors = weights(values)
    tensors[name] = tensors[name] - 9.0
    path = write_archive(tmp_path / "x.nemo", values, tensors=tensors)
    with pytest.raises(DamagedWeights, match="below zero"):
        load_model(path)


def test_a_foreign_tensors_name_cannot_write_to_a_terminal(tmp_path):
    values = options("EncDecCTCModel")
    tensors = weights(values) | {"\x1b[31mred\n": torch.zeros(1), "x" * 10_000: torch.zeros(1)}
    path = write_archive(tmp_path / "x.nemo", values, tensors=tensors)
    with pytest.raises(UnknownKeys) as caught:
        load_model(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_a_member_that_only_ends_like_the_configuration_is_not_it(tmp_path):
    values = options("EncDecCTCModel")
    path = write_archive(tmp_path / "x.nemo", values, {"evil_model_config.yaml": b"target: none"})
    assert load_model(path).format == "nemo"


def test_a_folder_of_two_archives_is_asked_for_one_of_them(path):
    (path.parent / "other.nemo").write_bytes(path.read_bytes())
    with pytest.raises(CheckpointError, match=r"holds 2 \.nemo archives, 'other\.nemo', 'tiny"):
        load_model(path.parent)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"encoder__n_layers": None}, ConfigError),
        ({"encoder__n_layers": 10**9}, ConfigError),
        ({"decoder__num_classes": 4}, ConfigError),
        ({"decoder__vocabulary": ["a", "b", "c", "d", 5]}, TokenizerError),
    ],
)
def test_a_refusal_of_a_configuration_names_its_archive(path, changes, error):
    write_archive(path, options(CTC, **changes), tensors={})
    with pytest.raises(error, match=r"^\S+tiny\.nemo") as caught:
        load_model(path.parent)
    assert str(caught.value).count(str(path)) == 1
