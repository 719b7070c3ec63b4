"""Prefix search equals the oracle, bit by bit, whatever is thrown at it."""

from dataclasses import dataclass

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prefix_oracle import OracleSearch
from search_company import (
    CutFrames,
    advance_together,
    change_table_on_the_way,
    cut_frames,
    examples,
    slots_for,
)

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig

CASES = settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass(frozen=True)
class Stream:
    audio: CutFrames
    table: BoostTable | None


@dataclass(frozen=True)
class Company:
    """Some streams that share a search, and the search's options."""

    config: PrefixSearchConfig
    vocab_size: int
    streams: list[Stream]
    slots: list[int]


@st.composite
def tables(draw: st.DrawFn, vocab_size: int, blank_id: int) -> BoostTable | None:
    """A boost table over all tokens but the blank, or none."""
    tokens = st.integers(0, vocab_size - 1).filter(lambda token: token != blank_id)
    phrase = st.builds(
        BoostPhrase,
        tokens=st.lists(tokens, min_size=1, max_size=4).map(tuple),
        weight=st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 8.0]),
    )
    phrases = draw(st.none() | st.lists(phrase, min_size=1, max_size=5))
    if phrases is None:
        return None
    return BoostTable.compile(phrases, vocab_size, hold_completed=draw(st.booleans()))


@st.composite
def companies(draw: st.DrawFn) -> Company:
    """Streams of different lengths, cuts and boosts in a random order of slots."""
    vocab_size = draw(st.integers(2, 12))
    config = PrefixSearchConfig(
        beam_size=draw(st.integers(1, 8)),
        token_beam=draw(st.integers(1, 12)),
        blank_id=draw(st.integers(0, vocab_size - 1)),
        node_capacity=400,
        boost_candidates=draw(st.booleans()),
        workers=draw(st.integers(1, 3)),
        block_threads=draw(st.sampled_from([None, None, None, 2, 3, 32])),  # None: the device's
    )
    streams = []
    for _ in range(draw(st.integers(1, 4))):
        audio = draw(cut_frames(vocab_size, most_chunks=4, longest_chunk=6))
        streams.append(Stream(audio, draw(tables(vocab_size, config.blank_id))))
    return Company(config, vocab_size, streams, draw(slots_for(streams)))


def search_together(company: Company, device: torch.device) -> PrefixSearch:
    search = PrefixSearch(company.config, len(company.slots) + 1, company.vocab_size, device)
    for slot, stream in zip(company.slots, company.streams, strict=True):
        search.set_boost(slot, stream.table)
    advance_together(search, company.slots, [one.audio for one in company.streams], device)
    return search


def oracle_of(config: PrefixSearchConfig, table: BoostTable | None) -> OracleSearch:
    return OracleSearch(
        config.beam_size, config.token_beam, config.blank_id, table, config.boost_candidates
    )


@given(company=companies())
@CASES
def test_each_stream_is_decoded_as_by_the_oracle_alone(
    company: Company, device: torch.device
) -> None:
    search = search_together(company, device)
    best = search.best(torch.tensor(company.slots))
    for slot, stream, result in zip(company.slots, company.streams, best, strict=True):
        oracle = oracle_of(company.config, stream.table)
        oracle.advance(stream.audio.frames.tolist())
        for finalize in (False, True):
            found = search.nbest(slot, company.config.beam_size, finalize=finalize)
            assert found == oracle.nbest(finalize)
        assert result.hypothesis == oracle.nbest()[0]
        assert result.stable_length == min(oracle.stable_length(), len(oracle.nbest()[0].tokens))
    assert search.overflows() == 0


@given(company=companies(), cut=st.integers(0, 24), other=st.data())
@CASES
def test_a_table_that_changes_on_the_way(
    company: Company, cut: int, other: st.DataObject, device: torch.device
) -> None:
    stream, config = company.streams[0], company.config
    table = other.draw(tables(company.vocab_size, config.blank_id))
    search = PrefixSearch(config, 1, company.vocab_size, device)
    oracle = oracle_of(config, stream.table)
    search.set_boost(0, stream.table)
    frames = stream.audio.frames
    for _ in change_table_on_the_way(search, oracle, frames, cut, table, device):
        assert search.nbest(0, config.beam_size) == oracle.nbest()


@given(seed=st.integers(0, 2**32 - 1), block_threads=st.sampled_from([None, None, 2, 7, 64]))
@settings(CASES, max_examples=10)
def test_many_tokens_and_wide_beams(
    seed: int, block_threads: int | None, device: torch.device
) -> None:
    """More candidates than one batch of the pool holds."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(4, 700, generator=generator).round(decimals=1)
    frames = torch.log_softmax(noise, dim=-1)
    phrases = [
        BoostPhrase(tuple(torch.randint(1, 700, (3,), generator=generator).tolist()), 4.0)
        for _ in range(200)
    ]
    table = BoostTable.compile(phrases, 700)
    config = PrefixSearchConfig(beam_size=24, token_beam=30, block_threads=block_threads)
    search = PrefixSearch(config, 1, 700, device)
    search.set_boost(0, table)
    search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([4]))
    oracle = OracleSearch(24, 30, table=table)
    oracle.advance(frames.tolist())
    assert search.nbest(0, 24, finalize=False) == oracle.nbest(finalize=False)
