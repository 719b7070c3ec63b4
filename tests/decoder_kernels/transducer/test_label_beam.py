"""Beams of many streams, natively: what the plain loops find, in any company and any cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from arpa_walk import ArpaWalk
from boost_walk import BoostWalk
from heard_beams import (
    HEADS,
    LABELS,
    NOTHING,
    SIZE,
    SPELLED,
    Heard,
    assert_found,
    expected_of,
    hear,
    in_pieces,
    small_lm,
    sound,
    whole,
)
from hypothesis import given
from hypothesis import strategies as st
from nemo_golden import GoldenReader
from table_network import BLANK, numbers, table_network

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.errors import InvalidConfig, InvalidInput
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.label_beam import (
    BOOST_STATE,
    LM_STATE,
    BeamConfig,
    LabelBeam,
)
from earshot.decoder_kernels.transducer.label_beam import (
    LABELS as LABELS_SAID,
)
from earshot.decoder_kernels.transducer.token_lm import TokenLm
from earshot.language.ngrams.arpa import Arpa
from earshot.language.ngrams.token_lm import token_lm_of
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig
from earshot.streaming.transducer.native_loop import label_loop_of

NAMES = ("rnnt_offline", "tdt_offline")


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


kinds = st.sampled_from(sorted(HEADS))
lengths = st.lists(st.integers(0, 7), min_size=1, max_size=6)
sizes = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)
widths = st.integers(1, 8)
phrases = st.lists(
    st.builds(
        BoostPhrase,
        st.lists(st.integers(0, LABELS - 1), min_size=1, max_size=3).map(tuple),
        st.sampled_from([-3.0, -0.5, 0.25, 1.0, 2.5]),
    ),
    max_size=4,
)


@pytest.mark.parametrize("with_lm", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_best_is_the_one_that_nemo_finds(
    nemo_golden: GoldenReader,
    fusion: dict[str, Any],
    arpa: Arpa,
    name: str,
    with_lm: bool,
) -> None:
    """With its own file of a language model, and the labels' own spellings."""
    golden = nemo_golden(name)
    lm = token_lm_of(arpa, golden.loaded.tokenizer.units.symbols) if with_lm else None
    head = golden.model.transducer
    beam = LabelBeam(label_loop_of(head), BeamConfig(4, "chunk", lm_weight=0.3), lm)
    rows = golden.rows("encoded")
    wanted = fusion[name][f"malsd_beam4_lm{with_lm}"]
    for found, each in zip(in_pieces(beam, rows, [10_000]), wanted, strict=True):
        # NeMo ranks whole utterances so: no text wins because it is short.
        ranks = found.memory.scores / (found.memory.carried[:, LABELS_SAID] + 1)
        best = found.said[int(ranks.argmax())]
        assert list(best.tokens) == each["tokens"]
        assert list(best.frames) == each["timestamps"]
        assert best.score == pytest.approx(each["score"], abs=1e-3)


@given(kinds, lengths, sizes, widths, st.sampled_from([float("inf"), 4.0]))
def test_lanes_in_chunks_find_what_the_plain_loops_do_alone(
    kind: str, frames: list[int], pieces: list[int], width: int, narrow: float
) -> None:
    head, config = HEADS[kind], BeamConfig(width, narrow=narrow)
    sounds = [sound(count, 10 * width + seed) for seed, count in enumerate(frames)]
    heard = in_pieces(LabelBeam(label_loop_of(head), config), sounds, pieces)
    for found, encoded in zip(heard, sounds, strict=True):
        assert_found(found, expected_of(head, encoded, config))


@given(kinds, st.integers(0, 12), widths, st.integers(0, 9))
def test_who_waits_for_the_chunk_finds_what_the_plain_loops_do(
    kind: str, length: int, width: int, seed: int
) -> None:
    config, encoded = BeamConfig(width, "chunk"), sound(length, seed)
    found = whole(LabelBeam(label_loop_of(HEADS[kind]), config), encoded)
    assert_found(found, expected_of(HEADS[kind], encoded, config))


@pytest.mark.parametrize("processor", kernels.processors())
@pytest.mark.parametrize("kind", sorted(HEADS))
def test_every_processor_finds_the_same(kind: str, processor: str) -> None:
    config = BeamConfig(4)
    beam = LabelBeam(label_loop_of(HEADS[kind], processor=processor), config)
    for length in (0, 1, 5, 40):
        encoded = sound(length, length)
        assert_found(whole(beam, encoded), expected_of(HEADS[kind], encoded, config))


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_a_lanes_bits_depend_on_nothing_but_itself(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    beam = LabelBeam(label_loop_of(HEADS[kind]), BeamConfig(4))
    sounds = [sound(3 + seed % 11, seed) for seed in range(24)]
    alone = [whole(beam, encoded) for encoded in sounds]
    for company, threads in ((2, 1), (7, 1), (24, 1), (24, 4)):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        together = in_pieces(beam, sounds[:company], [14])
        for found, own in zip(together, alone, strict=False):
            assert found.said == own.said
            assert found.blanks == own.blanks
            assert torch.equal(found.memory.numbers, own.memory.numbers)
            assert torch.equal(found.memory.scores, own.memory.scores)


@given(kinds, st.integers(0, 20), st.integers(0, 9))
def test_a_beam_of_one_says_what_label_looping_does(kind: str, length: int, seed: int) -> None:
    head = HEADS[kind]
    loop, encoded = label_loop_of(head), sound(length, seed)
    [greedy] = loop([encoded], [loop.begin()])
    [said] = whole(LabelBeam(loop, BeamConfig(1)), encoded).said
    assert greedy is not None
    assert said.tokens == tuple(greedy.tokens)
    assert said.frames == tuple(greedy.frames)
    assert said.log_probs == pytest.approx(greedy.log_probs, abs=1e-6)


@pytest.mark.parametrize("cap", [1, 2])
def test_a_beam_of_one_leaves_a_full_frame_as_label_looping_does(cap: int) -> None:
    """What is said next has a long duration: it is not the blank's that takes it on."""
    torch.manual_seed(11)
    config = TransducerConfig(LABELS, SIZE, 8, 19, durations=(0, 4), max_symbols=cap)
    head = Transducer(config).eval()
    for parameter in head.parameters():
        parameter.data.normal_(0, 1.0)
    loop, capped = label_loop_of(head), 0
    for seed in range(20):
        [greedy] = loop([sound(20, seed)], [loop.begin()])
        [said] = whole(LabelBeam(loop, BeamConfig(1)), sound(20, seed)).said
        assert greedy is not None
        assert (said.tokens, said.frames) == (tuple(greedy.tokens), tuple(greedy.frames))
        full = (frame for frame in greedy.frames if greedy.frames.count(frame) == cap)
        capped += sum(greedy.durations[greedy.frames.index(frame)] == 0 for frame in full)
    assert capped


@given(kinds, phrases, sizes, widths, st.booleans())
def test_boosts_and_a_language_model_count_as_in_the_plain_loops(
    kind: str, boosted: list[BoostPhrase], pieces: list[int], width: int, with_lm: bool
) -> None:
    head, config, table = HEADS[kind], BeamConfig(width), BoostTable.compile(boosted, LABELS)
    spelled, encoded = SPELLED[:LABELS], sound(9, len(boosted))
    lm = token_lm_of(small_lm(), spelled) if with_lm else None
    loop = label_loop_of(head, num_slots=1, boost_capacity=200)
    loop.set_boost(0, table)
    beam = LabelBeam(loop, config, lm)
    heard, left = Heard(beam.begin(), [NOTHING]), encoded
    for piece in (*pieces, len(encoded)):
        hear(beam, [left[:piece]], [heard], [0])
        left = left[piece:]
    walk = ArpaWalk(small_lm(), spelled) if with_lm else None
    fused = {"lm": walk, "lm_weight": config.lm_weight, "boosts": BoostWalk(table)}
    assert_found(heard, expected_of(head, encoded, config, **fused))


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_each_lane_has_a_weight_of_its_own_for_the_language_model(kind: str) -> None:
    head, spelled = HEADS[kind], SPELLED[:LABELS]
    config, weights = BeamConfig(4), [0.0, 0.3, 2.0]
    beam = LabelBeam(label_loop_of(head), config, token_lm_of(small_lm(), spelled))
    sounds = [sound(12, 5)] * 3
    found = beam(sounds, [beam.begin()] * 3, lm_weights=weights)
    told = [each.after.scores.tolist() for each in found if each is not None]
    for scores, weight in zip(told, weights, strict=True):
        walk = ArpaWalk(small_lm(), spelled)
        wanted = expected_of(head, sounds[0], config, lm=walk, lm_weight=weight)
        assert scores == pytest.approx([each.score for each in wanted], abs=1e-4)
    assert (
        told[0] == whole(LabelBeam(label_loop_of(head), config), sounds[0]).memory.scores.tolist()
    )


def test_a_weight_that_changes_finds_the_language_models_state_as_it_is() -> None:
    """What was said under a weight of 0 is what the language model stands behind."""
    lm = token_lm_of(small_lm(), SPELLED[:LABELS])
    beam = LabelBeam(label_loop_of(HEADS["rnnt"]), BeamConfig(1), lm)
    [found] = beam([sound(20, 5)], [beam.begin()], lm_weights=[0.0])
    assert found is not None
    said = found.hypotheses[0].tokens
    state = lm.start
    for label in said:
        while not (places := _arcs_of(lm, state, label)):
            state = int(lm.shorter[state])
        state = int(lm.target[places[0]])
    assert state != lm.start
    assert int(found.after.carried[0, LM_STATE]) == state


def _arcs_of(lm: TokenLm, state: int, label: int) -> list[int]:
    arcs = range(int(lm.first_arc[state]), int(lm.first_arc[state + 1]))
    return [arc for arc in arcs if int(lm.token[arc]) == label]


@pytest.mark.parametrize("weights", [[0.3], [0.3, -0.1], [0.3, float("nan")], [0.3, float("inf")]])
def test_weights_that_are_none_of_all_lanes_are_refused(weights: list[float]) -> None:
    beam = LabelBeam(label_loop_of(HEADS["rnnt"]), BeamConfig())
    with pytest.raises(InvalidInput, match="lm_weights"):
        beam([sound(2, 0)] * 2, [beam.begin()] * 2, lm_weights=weights)


def test_a_boosted_beam_of_one_says_what_label_looping_does() -> None:
    table = BoostTable.compile([BoostPhrase((1, 2, 0), 1.5), BoostPhrase((3,), -2.0)], LABELS)
    loop = label_loop_of(HEADS["rnnt"], num_slots=1, boost_capacity=50)
    loop.set_boost(0, table)
    for seed in range(20):
        [greedy] = loop([sound(20, seed)], [loop.begin()], [0])
        beam = LabelBeam(loop, BeamConfig(1))
        heard = Heard(beam.begin(), [NOTHING])
        hear(beam, [sound(20, seed)], [heard], [0])
        assert greedy is not None
        assert heard.said[0].tokens == tuple(greedy.tokens)


def test_of_steps_that_score_the_same_the_first_is_taken() -> None:
    head = table_network({}, cap=1)
    head.joint.output.weight[:] = 0.0
    head.joint.output.bias[:] = torch.tensor([1.0, 1.0, 1.0, 1.0])
    found = whole(LabelBeam(label_loop_of(head), BeamConfig(3)), numbers(1))
    assert [each.tokens for each in found.said] == [(0,), (1,), (2,)]


@pytest.mark.parametrize("kind", sorted(HEADS))
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_lane_that_is_not_finite_is_left_out_alone(kind: str, value: float) -> None:
    beam, bad = LabelBeam(label_loop_of(HEADS[kind]), BeamConfig(4)), sound(6, 1)
    bad[3] = value
    good = [sound(4, seed) for seed in range(6)]
    found = beam([*good[:4], bad, *good[4:]], [beam.begin()] * 7)
    assert [each is None for each in found] == [False] * 4 + [True] + [False] * 2
    told = [[said.tokens for said in each.hypotheses] for each in found if each is not None]
    alone = [whole(beam, encoded) for encoded in good]
    assert told == [[list(said.tokens) for said in each.said] for each in alone]


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_the_memory_given_is_not_changed(kind: str) -> None:
    beam = LabelBeam(label_loop_of(HEADS[kind]), BeamConfig(4))
    before = whole(beam, sound(9, 0)).memory
    copies = [each.clone() for each in (before.numbers, before.carried, before.scores)]
    [first], [again] = (beam([sound(9, 1)], [before]) for _ in range(2))
    assert first is not None
    assert again is not None
    assert first.hypotheses == again.hypotheses != []
    for each, copy in zip((before.numbers, before.carried, before.scores), copies, strict=True):
        assert torch.equal(each, copy)


def test_one_hypothesis_goes_on_alone_as_it_would_have() -> None:
    beam = LabelBeam(label_loop_of(HEADS["tdt"]), BeamConfig(4))
    one = LabelBeam(label_loop_of(HEADS["tdt"]), BeamConfig(1))
    before, greedy = whole(beam, sound(9, 0)).memory, whole(one, sound(9, 0)).memory
    same = [
        place
        for place, each in enumerate(before.numbers)
        if torch.equal(each[:-1], greedy.numbers[0][:-1])
    ]
    [found] = beam([sound(5, 1)], [before.alone(same[0])])
    [wanted] = beam([sound(5, 1)], [greedy.alone(0)])
    assert found is not None
    assert wanted is not None
    assert [each.tokens for each in found.hypotheses] == [each.tokens for each in wanted.hypotheses]
    assert found.after.scores.tolist() == pytest.approx(wanted.after.scores.tolist())


def test_other_boosts_end_the_phrase_under_way() -> None:
    loop = label_loop_of(HEADS["rnnt"], num_slots=1, boost_capacity=50)
    beam = LabelBeam(loop, BeamConfig(2))
    loop.set_boost(0, BoostTable.compile([BoostPhrase((label,) * 4, 1.0) for label in range(5)], 5))
    [found] = beam([sound(12, 3)], [beam.begin()], [0])
    assert found is not None
    assert found.after.carried[:, BOOST_STATE].any()
    loop.set_boost(0, None)
    [with_none] = beam([sound(12, 4)], [found.after], [0])
    [without] = beam([sound(12, 4)], [found.after])
    assert with_none is not None
    assert without is not None
    assert with_none.hypotheses == without.hypotheses


def test_silence_that_lasts_over_a_chunk_is_told_in_the_next() -> None:
    head = table_network({(BLANK, 0): (BLANK, 1)}, (0, 4))
    [heard] = in_pieces(LabelBeam(label_loop_of(head), BeamConfig(1)), [numbers(6)], [2])
    sure = torch.tensor([0.0, 0.0, 0.0, 2.0 + BLANK]).log_softmax(-1)[BLANK]
    assert heard.blanks[0][:4] == pytest.approx([float(sure)] * 4, abs=1e-4)


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"narrow": 0.0}, {"lm_weight": -1.0}, {"lm_weight": float("nan")}]
)
def test_a_beam_without_width_or_with_a_weight_that_is_none_is_refused(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(InvalidConfig):
        BeamConfig(**wrong)


def test_a_language_model_of_other_labels_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="labels"):
        LabelBeam(label_loop_of(HEADS["rnnt"]), BeamConfig(), token_lm_of(small_lm(), SPELLED[:4]))


def test_more_hypotheses_than_are_kept_are_refused() -> None:
    wide = LabelBeam(label_loop_of(HEADS["rnnt"]), BeamConfig(4))
    narrow = LabelBeam(label_loop_of(HEADS["rnnt"]), BeamConfig(2))
    with pytest.raises(InvalidInput, match="hypotheses"):
        narrow([sound(1, 0)], [whole(wide, sound(9, 0)).memory])


def test_nobody_says_nothing() -> None:
    assert LabelBeam(label_loop_of(HEADS["rnnt"]), BeamConfig())([], []) == []
