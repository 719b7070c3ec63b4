"""Prefix search equals WeNet: every n-best list of the golden data, tokens, times and scores."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from prefix_oracle import OracleSearch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig

# Scores are sums in double precision; one in single precision would move them by 1e-8.
DOUBLE_ROUNDING = 1e-10

MODELS = [
    "u2pp_conformer",
    "variants/offline_conformer_bn",
    "variants/transformer_abspos_kaldicmvn",
]


@dataclass(frozen=True)
class Case:
    name: str
    log_probs: Tensor  # (1, T, V)
    beam_size: int
    table: BoostTable | None
    tokens: list[list[int]]
    times: list[list[int]]
    scores: list[float] | None  # None where WeNet's own are wrong


def golden_cases(directory: Path) -> list[Case]:
    """All prefix searches of a model directory whose posteriors were kept."""
    arrays = np.load(directory / "golden.npz")
    golden = json.loads((directory / "golden_search.json").read_text())
    phrases = golden.pop("context_graph")["phrase_ids"]
    cases = []
    for mode, searches in golden.items():
        chunks, utterance = mode.rsplit("_", 1)
        key = f"{'full' if chunks == 'full' else f'stream_{chunks}'}_{utterance}_ctc_logp"
        for name, found in searches.items():
            if not name.startswith("prefix_beam") or key not in arrays:
                continue
            beam_size, _, weight = name.removeprefix("prefix_beam").partition("_context")
            log_probs = torch.from_numpy(arrays[key])
            cases.append(
                Case(
                    f"{mode} {name}",
                    log_probs,
                    int(beam_size),
                    boost_table(phrases, float(weight), log_probs.shape[2]) if weight else None,
                    found["nbest"],
                    found["nbest_times"],
                    None if weight else found["nbest_scores"],
                )
            )
    return cases


def boost_table(phrases: list[list[int]], weight: float, vocab_size: int) -> BoostTable:
    """Boosts as WeNet has them, its held bonus of complete phrases included."""
    boosted = [BoostPhrase(tuple(phrase), weight) for phrase in phrases]
    return BoostTable.compile(boosted, vocab_size, hold_completed=True)


@pytest.mark.parametrize("model", MODELS)
def test_every_golden_n_best_list(
    golden_dir: Path, device: torch.device, model: str, assert_same: Callable[..., None]
) -> None:
    cases = golden_cases(golden_dir / model)
    assert len(cases) >= 8
    for case in cases:
        config = PrefixSearchConfig(
            beam_size=case.beam_size, token_beam=case.beam_size, boost_candidates=False
        )
        search = PrefixSearch(config, 1, case.log_probs.shape[2], device)
        search.set_boost(0, case.table)
        length = torch.tensor([case.log_probs.shape[1]])
        search.advance(torch.tensor([0]), case.log_probs.to(device), length)
        found = search.nbest(0, case.beam_size, finalize=False)
        assert [list(one.tokens) for one in found] == case.tokens, case.name
        assert [list(one.frames) for one in found] == case.times, case.name
        if case.scores is not None:
            assert_same([one.score for one in found], case.scores, DOUBLE_ROUNDING)


def test_the_oracle_says_the_same(golden_dir: Path) -> None:
    for case in golden_cases(golden_dir / "u2pp_conformer"):
        search = OracleSearch(
            case.beam_size, case.beam_size, table=case.table, boost_candidates=False
        )
        search.advance(case.log_probs[0].tolist())
        found = search.nbest(finalize=False)
        assert [list(one.tokens) for one in found] == case.tokens, case.name
        assert [list(one.frames) for one in found] == case.times, case.name
