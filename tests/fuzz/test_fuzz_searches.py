"""A few thousand operations of the fuzzer, and faults that it must notice."""

import math
import os
import subprocess
import sys
from random import Random

import numpy as np
import pytest
import torch
from fuzz_searches import fuzz
from fuzz_tally import EPISODES_OF_A_LONG_RUN, growth
from hostile_inputs import must_be_refused
from oracle_trial import OracleTrial
from prefix_trial import PrefixTrial
from sanitized_run import PYTHON_PATH, REPOSITORY

from earshot.decoder_kernels.errors import DeviceError
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch


def test_nothing_hostile_does_harm() -> None:
    tally = fuzz(seed=1, operations=2_500)
    refusals = {error for _, error in tally.refused}
    assert {"InvalidInput", "BoostTableError", "CapacityExceeded", "GraphFileError"} <= refusals
    compared = tally.done["comparison"]
    assert compared > sum(n for (what, _), n in tally.refused.items() if what == "comparison")
    assert tally.done["LabelLoop walk"] > 500


def test_the_fuzzer_finds_its_helpers_without_pytest() -> None:
    environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
    asked = [sys.executable, "-c", "import fuzz_searches"]
    subprocess.run(asked, env=environment, cwd=REPOSITORY, check=True)


def test_a_stream_that_others_disturb_is_noticed() -> None:
    trial = PrefixTrial(Random(1))
    while trial.search.best(torch.tensor([trial.control])) == trial.search.best(
        torch.tensor([trial.hostile[0]])
    ):
        trial.step()
    trial.search.reset(torch.tensor([trial.control]))
    with pytest.raises(AssertionError, match="the control is not what it is alone"):
        trial.step()


def _broken(*arguments: object, **options: object) -> None:
    raise DeviceError("the device is gone")


@pytest.mark.parametrize(("of", "name"), [(OracleTrial, "run"), (PrefixSearch, "set_boost")])
def test_a_device_that_fails_is_no_refusal(
    monkeypatch: pytest.MonkeyPatch, of: type, name: str
) -> None:
    monkeypatch.setattr(of, name, _broken)
    with pytest.raises(DeviceError, match="the device is gone"):
        fuzz(seed=1, operations=2_500)


def test_memory_that_grows_is_noticed() -> None:
    assert growth([300.0] * EPISODES_OF_A_LONG_RUN) == "memory 300 MB, later 300 MB"
    with pytest.raises(AssertionError, match="later 380 MB"):
        growth([100.0 + mb for mb in range(EPISODES_OF_A_LONG_RUN)] * 1 + [380.0] * 100)


@pytest.mark.parametrize(
    ("row", "refused"),
    [
        ([0.0, -1e30, -math.inf], False),
        ([-math.inf] * 3, True),
        ([0.0, math.nan, 0.0], True),
        ([math.inf, 0.0, 0.0], True),
    ],
)
def test_what_must_be_refused_is_known(row: list[float], refused: bool) -> None:
    assert must_be_refused(np.array([[0.0] * 3, row], np.float32)) == refused
