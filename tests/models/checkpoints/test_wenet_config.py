"""What train.yaml may say, and what is refused."""

import copy
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from earshot.models.checkpoints.wenet_config import read_config
from earshot.models.config import ModelConfig
from earshot.models.errors import ConfigError

JUNK = (None, "x", -1, 0, 10**30, math.inf, math.nan, [], ["a"], {}, {"a": 1}, True, 2.5)


def read_options(directory: Path) -> dict:
    return yaml.safe_load((directory / "train.yaml").read_text())


def paths(value: Any, path: tuple = ()) -> list[tuple]:
    """Every place in nested mappings."""
    children = value.items() if isinstance(value, dict) else ()
    inner = [place for key, child in children for place in paths(child, (*path, key))]
    return [path, *inner] if path else inner


def replaced(options: dict, path: tuple, value: Any) -> dict:
    changed = copy.deepcopy(options)
    section = changed
    for key in path[:-1]:
        section = section[key]
    section[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("section", "change", "message"),
    [
        (None, {"model": "paraformer"}, "paraformer"),
        (None, {"encoder": "branchformer"}, "branchformer"),
        (None, {"decoder": "sanm_decoder"}, "sanm_decoder"),
        ("encoder_conf", {"input_layer": "conv1d2"}, "conv1d2"),
        ("encoder_conf", {"normalize_before": False}, "normalize_before"),
        ("encoder_conf", {"n_kv_head": 2}, "n_kv_head"),
        ("encoder_conf", {"mlp_type": "gated"}, "mlp_type"),
        ("encoder_conf", {"layer_norm_type": "rms_norm"}, "layer_norm_type"),
        ("encoder_conf", {"surprise": 1}, "encoder_conf has keys we do not know: surprise"),
        ("encoder_conf", {"activation_type": "mish"}, "mish"),
        ("encoder_conf", {"pos_enc_layer_type": "rope_pos"}, "rope_pos"),
        ("decoder_conf", {"tie_word_embedding": True}, "tie_word_embedding"),
        ("decoder_conf", {"activation_type": "swish"}, "activation_type"),
        ("decoder_conf", {"surprise": 1}, "decoder_conf has keys we do not know: surprise"),
        ("dataset_conf", {"feats_type": "mfcc"}, "mfcc"),
    ],
)
def test_a_network_we_do_not_have_is_refused_by_key(u2pp_dir, section, change, message):
    options = read_options(u2pp_dir)
    (options if section is None else options[section]).update(change)
    with pytest.raises(ConfigError, match=message):
        read_config(options, num_units=43)


def test_assumes_wenets_defaults_where_train_yaml_is_silent():
    config = read_config({"encoder_conf": {}, "decoder_conf": {"r_num_blocks": 3}}, num_units=100)
    assert (config.encoder.kind, config.decoder.kind) == ("conformer", "bitransformer")
    assert config.encoder.cnn_module_norm == "batch_norm"
    assert not config.encoder.streamable
    assert config.vocab_size == 100
    assert config.eos_id == 99


def test_any_value_anywhere_is_taken_or_refused_but_nothing_else(golden):
    options, refused = read_options(golden.directory), 0
    for path in paths(options):
        for value in JUNK:
            try:
                assert isinstance(read_config(replaced(options, path, value), 43), ModelConfig)
            except ConfigError:
                refused += 1
    assert refused > 100


def test_a_huge_value_is_not_quoted_whole(u2pp_dir):
    bomb: list = ["x"] * 10
    for _ in range(12):
        bomb = [bomb] * 10
    options = replaced(read_options(u2pp_dir), ("encoder_conf", "normalize_before"), bomb)
    with pytest.raises(ConfigError) as caught:
        read_config(options, 43)
    assert len(str(caught.value)) < 1_000
