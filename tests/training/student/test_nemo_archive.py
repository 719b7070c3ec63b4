"""Archives of students, beside those that NeMo writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from earshot.models.checkpoints.files.small_file import MAX_CONFIG_BYTES
from earshot.models.checkpoints.files.yaml_text import parse_yaml
from earshot.models.checkpoints.nemo.archive import CONFIG, WEIGHTS, open_nemo
from earshot.models.fastconformer.model import FastConformerModel
from earshot.training.errors import NoPlace
from earshot.training.student.nemo_archive import archive_place, write_archive
from earshot.training.student.student_model import fresh_student
from earshot.training.student.student_units import student_units

NUMBER = re.compile(r"(layers|conv|joint_net)\.\d+\.")


@pytest.fixture
def student(recipe, teacher: Path) -> FastConformerModel:
    config = recipe.student.network(student_units(teacher).vocab_size)
    return fresh_student(config, torch.zeros(40), torch.ones(40), seed=1)


@pytest.fixture
def archive(student: FastConformerModel, teacher: Path, tmp_path: Path) -> Path:
    write_archive(tmp_path / "of.nemo", student, student_units(teacher), 0.3)
    return tmp_path / "of.nemo"


def options(path: Path) -> Mapping[str, Any]:
    with open_nemo(path) as archive:
        return parse_yaml(archive.text(archive.member(CONFIG), MAX_CONFIG_BYTES), str(path))


def tensors(path: Path) -> set[str]:
    """Names of tensors without the numbers of layers."""
    with open_nemo(path) as archive, archive.open(archive.member(WEIGHTS)) as file:
        return {NUMBER.sub(r"\1.", name) for name in torch.load(file)}


def test_keys_are_those_that_nemo_writes(archive: Path, nemo_golden_dir: Path) -> None:
    ours, hybrid = options(archive), options(nemo_golden_dir / "hybrid_tdt_ctc.nemo")
    for section in ("preprocessor", "encoder", "decoder", "joint", "aux_ctc", "model_defaults"):
        assert ours[section].keys() <= hybrid[section].keys(), section
        assert ours[section].get("_target_") == hybrid[section].get("_target_"), section
    assert ours["target"] == hybrid["target"]
    assert ours["aux_ctc"]["decoder"].keys() <= hybrid["aux_ctc"]["decoder"].keys()
    assert ours["joint"]["jointnet"].keys() <= hybrid["joint"]["jointnet"].keys()
    streaming = options(nemo_golden_dir / "rnnt_streaming.nemo")
    for key in ("att_context_style", "causal_downsampling", "conv_context_size", "conv_norm_type"):
        assert ours["encoder"][key] == streaming["encoder"][key]
    assert ours["preprocessor"]["normalize"] == streaming["preprocessor"]["normalize"]


def test_tensors_have_the_names_that_nemo_gives(archive: Path, nemo_golden_dir: Path) -> None:
    streaming, hybrid = (
        tensors(nemo_golden_dir / name) for name in ("rnnt_streaming.nemo", "hybrid_tdt_ctc.nemo")
    )
    heads = {name for name in hybrid if name.startswith("ctc_decoder.")}
    assert tensors(archive) == streaming | heads


def test_a_student_begins_with_features_about_zero(recipe, teacher: Path) -> None:
    config = recipe.student.network(student_units(teacher).vocab_size)
    plain = fresh_student(config, torch.zeros(40), torch.ones(40), seed=1)
    loud = fresh_student(config, torch.full((40,), -9.0), torch.full((40,), 0.25), seed=1)
    features = torch.randn(1, 1, 30, 40)
    first = [model.encoder.pre_encode.conv[0] for model in (plain, loud)]
    expected, found = first[0](features), first[1](features * 4.0 - 9.0)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_a_file_where_no_folder_can_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoPlace):
        archive_place(tmp_path / "file" / "of.nemo", "student")


def test_an_archive_that_cannot_be_written_is_refused(
    student: FastConformerModel, teacher: Path, tmp_path: Path
) -> None:
    (tmp_path / "of.nemo").mkdir()
    with pytest.raises(NoPlace, match=r"cannot write .*of\.nemo"):
        write_archive(tmp_path / "of.nemo", student, student_units(teacher), 0.3)
