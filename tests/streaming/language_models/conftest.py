"""Engines whose search asks language models by name."""

from collections.abc import Callable
from pathlib import Path

import pytest
from searching import SCALE
from tiny_lms import SMALL, TENANT, alike, write_lm

from earshot.streaming.graph_config import GraphSearchConfig


@pytest.fixture
def lms(tmp_path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "tenant.lm", TENANT)
    write_lm(folder / "other.lm", {**SMALL, "二": 0.1, "一 二": 3.0})
    return folder


@pytest.fixture
def make_alike(make_engine, tone_model, tmp_path, lms) -> Callable:
    """Makes engines whose words sound alike, and whose search asks models."""

    def make(
        loaded=tone_model,
        *,
        in_search: bool = True,
        max_streams: int = 8,
        gain_limit: float = 1.5,
        **options,
    ):
        graph = alike(tmp_path / "own", tone_model.tokenizer.vocab_size)
        search = GraphSearchConfig(
            lm_weight=SCALE,
            max_active=200,
            lattice_beam=8.0,
            lm_in_search=in_search,
            lm_gain_limit=gain_limit,
        )
        sizes = {"chunk_size": 8, "num_left_chunks": 2, "max_streams": max_streams}
        return make_engine(loaded, graph=graph, graph_search=search, lm_dir=lms, **sizes, **options)

    return make


@pytest.fixture
def engine(make_alike):
    return make_alike()
