import json

import pytest
import torch

from earshot.models.errors import CheckpointError
from earshot.models.layers.cmvn import GlobalCmvn, read_cmvn


def test_statistics_equal_wenets(golden, assert_same):
    mean, istd = read_cmvn(golden.directory / "global_cmvn")
    assert_same(mean, golden.arrays["cmvn_mean"])
    assert_same(istd, golden.arrays["cmvn_istd"])


def test_starts_as_the_identity():
    features = torch.randn(2, 3, 80)
    torch.testing.assert_close(GlobalCmvn(80)(features), features)


def test_a_constant_bin_does_not_divide_by_zero(tmp_path):
    path = tmp_path / "global_cmvn"
    path.write_text(json.dumps({"mean_stat": [2.0], "var_stat": [4.0], "frame_num": 1}))
    _, istd = read_cmvn(path)
    assert float(istd) == pytest.approx(1e10)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        '{"mean_stat": [1.0], "var_stat": [2.0, 3.0], "frame_num": 4}',
        '{"mean_stat": [1.0], "var_stat": [2.0], "frame_num": 0}',
        '{"mean_stat": [NaN], "var_stat": [2.0], "frame_num": 1}',
        '{"mean_stat": ["x"], "var_stat": [2.0], "frame_num": 1}',
        "[ 1 2 3 ]",
        "[ 1 2 3 4 5 ]",
        "1 2 3 4",
        "\x00BDM ",
    ],
)
def test_what_is_no_statistics_is_refused_by_name(tmp_path, text):
    path = tmp_path / "global_cmvn"
    path.write_text(text)
    with pytest.raises(CheckpointError, match="global_cmvn"):
        read_cmvn(path)


def test_binary_kaldi_is_refused(tmp_path):
    path = tmp_path / "global_cmvn"
    path.write_bytes(b"\x00BDM \x04\x02\xff\xfe\x00\x00")
    with pytest.raises(CheckpointError, match="global_cmvn"):
        read_cmvn(path)
