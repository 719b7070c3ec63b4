"""WeNet directories: the three eras, and what is refused."""

import shutil
from pathlib import Path

import pytest
import torch
import yaml

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import (
    CheckpointError,
    ConfigError,
    MissingKeys,
    NotACheckpoint,
    ShapeMismatch,
    TokenizerError,
    UnknownKeys,
)
from earshot.models.tokenizers.char import CharTokenizer


@pytest.fixture
def u2pp(u2pp_dir: Path, tmp_path: Path) -> Path:
    """A writable copy of the era 3 directory."""
    copy = tmp_path / "u2pp"
    copy.mkdir()
    for name in ("train.yaml", "final.pt", "units.txt", "global_cmvn"):
        shutil.copyfile(u2pp_dir / name, copy / name)
    return copy


def read_options(directory: Path) -> dict:
    return yaml.safe_load((directory / "train.yaml").read_text())


def write_options(directory: Path, options: dict) -> None:
    (directory / "train.yaml").write_text(yaml.safe_dump(options))


def change_weights(directory: Path, change, **options) -> None:
    weights = torch.load(directory / "final.pt", weights_only=True)
    change(weights)
    torch.save(weights, directory / "final.pt", **options)


def encode(loaded) -> torch.Tensor:
    torch.manual_seed(0)
    features = torch.randn(1, 80, 80)
    with torch.no_grad():
        return loaded.model.encoder(features, torch.tensor([80]))[0]


def test_reads_what_train_yaml_says(golden):
    config, options = golden.model.config, read_options(golden.directory)
    assert config.vocab_size == 43
    assert config.encoder.output_size == options["encoder_conf"]["output_size"]
    assert config.encoder.causal == options["encoder_conf"].get("causal", False)
    assert config.decoder.kind == options["decoder"]
    assert (config.sos_id, config.eos_id) == (golden.meta["sos"], golden.meta["eos"])
    assert config.loss.label_smoothing == 0.1
    assert golden.loaded.format == "wenet"
    assert golden.loaded.name == golden.directory.name


def test_recommends_chunks_only_where_the_model_can(golden):
    streamable = golden.model.config.encoder.streamable
    assert golden.model.config.decoding.chunk_size == (16 if streamable else -1)


def test_recommends_the_reverse_weight_only_with_a_right_decoder(golden):
    expected = 0.3 if golden.model.right_decoder is not None else 0.0
    assert golden.model.config.decoding.reverse_weight == expected


def era_1_options(options: dict) -> dict:
    """The same model as an era 1 recipe would have written it."""
    old = {k: options[k] for k in ("encoder", "encoder_conf", "decoder", "decoder_conf")}
    old["encoder_conf"] = {**options["encoder_conf"], "concat_after": False}
    old |= {"input_dim": 80, "output_dim": 43, "model_conf": options["model_conf"]}
    old |= {"cmvn_file": "data/train/global_cmvn", "is_json_cmvn": True, "raw_wav": True}
    features = {"mel_bins": 80, "frame_shift": 10, "frame_length": 25, "using_pitch": False}
    return old | {"collate_conf": {"feature_extraction_conf": features, "wav_dither": 1.0}}


@pytest.mark.parametrize("zipped", [True, False])
def test_loads_an_era_1_directory(u2pp, zipped):
    expected = encode(load_model(u2pp))
    write_options(u2pp, era_1_options(read_options(u2pp)))

    def add_dead_tensors(weights: dict) -> None:
        for block in range(3):
            weights[f"encoder.encoders.{block}.concat_linear.weight"] = torch.zeros(64, 128)
            weights[f"encoder.encoders.{block}.concat_linear.bias"] = torch.zeros(64)
        for side in ("left", "right"):
            key = f"decoder.{side}_decoder.decoders.0.concat_linear"
            weights[f"{key}1.weight"] = weights[f"{key}2.weight"] = torch.zeros(64, 128)

    change_weights(u2pp, add_dead_tensors, _use_new_zipfile_serialization=zipped)
    (u2pp / "units.txt").rename(u2pp / "words.txt")
    loaded = load_model(u2pp)
    assert loaded.model.config.encoder.norm_eps == 1e-12
    assert loaded.model.config.eos_id == 42, "the last unit, before special tokens had a table"
    torch.testing.assert_close(encode(loaded), expected, rtol=0, atol=1e-3)


def test_positional_tables_are_accepted_and_dropped(u2pp):
    expected = encode(load_model(u2pp))

    def add_tables(weights: dict) -> None:
        weights["encoder.embed.pos_enc.pe"] = torch.zeros(1, 5000, 64)
        weights["decoder.left_decoder.embed.1.pe"] = torch.zeros(1, 5000, 64)
        weights["decoder.right_decoder.embed.1.pe"] = torch.zeros(1, 5000, 64)

    change_weights(u2pp, add_tables)
    torch.testing.assert_close(encode(load_model(u2pp)), expected, rtol=0, atol=0)


def test_statistics_in_the_weights_win_over_the_file(golden_by_name, assert_same):
    golden = golden_by_name["variants/conv2d6_bn_k8_transformerdec_era2"]
    assert_same(golden.model.encoder.global_cmvn.mean, golden.arrays["cmvn_mean"])


def test_statistics_come_from_the_file_where_the_weights_have_none(golden, tmp_path, assert_same):
    for name in ("train.yaml", "final.pt", "units.txt", "global_cmvn"):
        shutil.copyfile(golden.directory / name, tmp_path / name)
    change_weights(tmp_path, lambda weights: [weights.pop(k) for k in list(weights) if "cmvn" in k])
    cmvn = load_model(tmp_path).model.encoder.global_cmvn
    assert_same(cmvn.mean, golden.arrays["cmvn_mean"])
    assert_same(cmvn.istd, golden.arrays["cmvn_istd"])


def drop_statistics(weights: dict) -> None:
    del weights["encoder.global_cmvn.mean"], weights["encoder.global_cmvn.istd"]


def test_promised_statistics_that_are_nowhere_are_an_error(u2pp):
    change_weights(u2pp, drop_statistics)
    (u2pp / "global_cmvn").unlink()
    with pytest.raises(CheckpointError, match="global_cmvn"):
        load_model(u2pp)


def test_a_model_trained_without_statistics_takes_features_as_they_are(u2pp):
    change_weights(u2pp, drop_statistics)
    (u2pp / "global_cmvn").unlink()
    options = read_options(u2pp)
    options["cmvn"], options["cmvn_conf"] = None, {"cmvn_file": None, "is_json_cmvn": None}
    write_options(u2pp, options)
    cmvn = load_model(u2pp).model.encoder.global_cmvn
    assert float(cmvn.mean.abs().sum()) == 0.0
    assert cmvn.istd.tolist() == [1.0] * 80


def test_half_of_the_statistics_is_an_error(u2pp):
    change_weights(u2pp, lambda weights: weights.pop("encoder.global_cmvn.istd"))
    with pytest.raises(MissingKeys, match=r"encoder\.global_cmvn\.istd"):
        load_model(u2pp)


def test_a_missing_tensor_is_named(u2pp):
    change_weights(u2pp, lambda weights: weights.pop("ctc.ctc_lo.bias"))
    with pytest.raises(MissingKeys, match=r"ctc\.ctc_lo\.bias") as caught:
        load_model(u2pp)
    assert caught.value.names == {"ctc.ctc_lo.bias"}


def test_an_unknown_tensor_is_named(u2pp):
    change_weights(u2pp, lambda weights: weights.update(surprise=torch.zeros(1)))
    with pytest.raises(UnknownKeys, match="surprise") as caught:
        load_model(u2pp)
    assert caught.value.names == {"surprise"}


def test_a_tensor_of_another_shape_is_named(u2pp):
    change_weights(u2pp, lambda w: w.update({"ctc.ctc_lo.bias": torch.zeros(44)}))
    with pytest.raises(ShapeMismatch, match=r"ctc\.ctc_lo\.bias"):
        load_model(u2pp)


@pytest.mark.parametrize("name", ["train.yaml", "final.pt"])
def test_a_missing_file_is_named(u2pp, name):
    (u2pp / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_model(u2pp)


def test_a_missing_units_table_is_named(u2pp):
    (u2pp / "units.txt").unlink()
    with pytest.raises(TokenizerError, match=r"units\.txt"):
        load_model(u2pp)


def test_a_units_table_of_another_model_is_refused(u2pp):
    with (u2pp / "units.txt").open("a") as table:
        table.write("extra 43\n")
    with pytest.raises(TokenizerError, match="44 units, the model 43"):
        load_model(u2pp)


@pytest.mark.parametrize("text", ["", "- a\n", "a: [", "\t", "!!python/object/apply:os.getcwd []"])
def test_a_spoilt_train_yaml_is_refused(u2pp, text):
    (u2pp / "train.yaml").write_text(text)
    with pytest.raises(CheckpointError, match=r"train\.yaml"):
        load_model(u2pp)


def test_a_zip_as_final_pt_is_refused(u2pp, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "other"), "zip", u2pp, "units.txt")
    shutil.copyfile(archive, u2pp / "final.pt")
    with pytest.raises(NotACheckpoint, match="not of a PyTorch checkpoint"):
        load_model(u2pp)


def test_a_bpe_model_without_its_sentencepiece_model_is_refused(u2pp):
    options = read_options(u2pp)
    write_options(u2pp, {**options, "tokenizer": "bpe"})
    with pytest.raises(TokenizerError, match="one sentencepiece model; it holds none"):
        load_model(u2pp)


def test_a_char_model_ignores_a_stray_sentencepiece_model(u2pp):
    (u2pp / "stray.model").write_bytes(b"")
    assert isinstance(load_model(u2pp).tokenizer, CharTokenizer)


def test_a_tokenizer_we_do_not_have_is_refused(u2pp):
    options = read_options(u2pp)
    write_options(u2pp, {**options, "tokenizer": "whisper"})
    with pytest.raises(ConfigError, match="whisper"):
        load_model(u2pp)
    options["tokenizer_conf"]["split_with_space"] = True
    write_options(u2pp, options)
    with pytest.raises(ConfigError, match="split_with_space"):
        load_model(u2pp)
