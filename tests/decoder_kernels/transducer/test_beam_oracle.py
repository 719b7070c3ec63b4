"""The beam's oracle: equal to NeMo's MALSD, to what its rules give by hand, and to all alignments.

A beam that drops nothing has the sum of all alignments of a text (Graves 2012, section 2).
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
import torch
from arpa_walk import ArpaWalk
from beam_oracle import BeamRules, Said, beam_search, begin, ranked
from nemo_golden import GoldenReader
from network_head import NetworkHead
from oracles import TableHead, frame_looping
from table_network import BLANK as NO_LABEL
from table_network import NUMBERS, numbers, table_network
from torch import Tensor

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of

NAMES = ("rnnt_offline", "tdt_offline")
WIDTH = 4
CAP = 10
LM_WEIGHT = 0.3
"""NeMo's own when the data were made."""

BLANK = 2

NEXT = {NO_LABEL: (0, 1), 0: (1,), 1: (2,), 2: ()}
"""Labels that may follow the last one, so that there are six texts."""
DURATIONS = {"rnnt": (), "tdt": (0, 1, 2, 4)}
NEVER, IMPOSSIBLE = -60.0, 1e-20
ROUGHLY = 5e-3
"""The table forgets labels before the last to e^-12, which logits of -60 tell."""
WIDE = 32
Text = tuple[int, ...]
Sums = dict[Text, float]


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def test_a_language_model_scores_labels_as_nemos_does(lm: ArpaWalk, fusion: dict[str, Any]) -> None:
    for said, wanted in zip(fusion["lm"]["seqs"], fusion["lm"]["scores_bos_eos"], strict=True):
        found = [float(lm.scores(said[:place])[label]) for place, label in enumerate(said)]
        assert found == pytest.approx(wanted[:-1], abs=1e-5)


@pytest.mark.parametrize("with_lm", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_best_is_the_one_that_nemo_finds(
    nemo_golden: GoldenReader, fusion: dict[str, Any], lm: ArpaWalk, name: str, with_lm: bool
) -> None:
    golden = nemo_golden(name)
    network = golden.model.transducer
    rules = BeamRules(WIDTH, CAP, lm=lm if with_lm else None, lm_weight=LM_WEIGHT)
    wanted = fusion[name][f"malsd_beam4_lm{with_lm}"]
    for row, each in zip(golden.rows("encoded"), wanted, strict=True):
        best = ranked(beam_search(NetworkHead(network), network.hear(row), rules))[0]
        assert list(best.tokens) == each["tokens"]
        assert list(best.frames) == each["timestamps"]
        assert best.score == pytest.approx(each["score"], abs=1e-3)


def rnnt(rows: dict[tuple[int, int], tuple[float, ...]]) -> TableHead:
    """Probabilities of two labels and the blank by last label and frame; else the blank's alone."""
    return tdt(rows, (), ())


def tdt(
    rows: dict[tuple[int, int], tuple[float, ...]],
    durations: tuple[int, ...],
    lasting: tuple[float, ...],
) -> TableHead:
    def table(last: int, frame: int) -> tuple[Tensor, Tensor]:
        return torch.tensor(rows.get((last, frame), (1e-9, 1e-9, 1.0))).log(), torch.tensor(
            lasting
        ).log()

    return TableHead(BLANK, durations, table)


def found(head: TableHead, frames: int, rules: BeamRules) -> list[Said]:
    return ranked(beam_search(head, torch.arange(frames).unsqueeze(1), rules))


def test_paths_of_the_same_labels_add_up() -> None:
    """0 in the first frame, or in the second: neither is as likely as silence, both are."""
    head = rnnt({(BLANK, 0): (0.4, 1e-9, 0.6), (BLANK, 1): (0.4, 1e-9, 0.6)})
    likely = found(head, 2, BeamRules(3, CAP, narrow=5.0))
    nothing, said = sorted(likely, key=lambda each: each.tokens)
    assert math.exp(nothing.score) == pytest.approx(0.36, abs=1e-6)
    assert math.exp(said.score) == pytest.approx(0.64, abs=1e-6)
    assert said.frames == (0,)


def test_a_beam_of_one_finds_what_the_greedy_loop_does(nemo_golden: GoldenReader) -> None:
    network = nemo_golden("rnnt_offline").model.transducer
    head = NetworkHead(network)
    for row in nemo_golden("rnnt_offline").rows("encoded"):
        heard = network.hear(row)
        greedy, _ = frame_looping(head, heard, CAP)
        for waits in ("chunk", "frame"):
            [best] = beam_search(head, heard, BeamRules(1, CAP, waits))
            assert (list(best.tokens), list(best.frames)) == (greedy.tokens, greedy.frames)


@pytest.mark.parametrize("name", NAMES)
def test_who_waits_in_every_frame_finds_the_same_however_frames_are_cut(
    nemo_golden: GoldenReader, name: str
) -> None:
    network = nemo_golden(name).model.transducer
    head, rules = NetworkHead(network), BeamRules(WIDTH, CAP, "frame")
    heard = network.hear(nemo_golden(name).rows("encoded")[2])
    beam, first = begin(head), 0
    for chunk in heard.split(3):
        beam, first = beam_search(head, chunk, rules, beam, first), first + len(chunk)
    whole = beam_search(head, heard, rules)
    assert [(each.tokens, each.frames) for each in beam] == [
        (each.tokens, each.frames) for each in whole
    ]
    assert [each.score for each in beam] == pytest.approx([each.score for each in whole])


def test_a_frame_is_left_by_a_blank_after_so_many_labels() -> None:
    head = rnnt({(last, 0): (0.9, 0.05, 0.05) for last in range(3)})
    best = found(head, 1, BeamRules(1, 2))[0]
    assert best.tokens == (0, 0)
    assert math.exp(best.score) == pytest.approx(0.9 * 0.9 * 0.05, rel=1e-5)


def test_a_blank_of_no_duration_advances_by_one_and_adds_to_that_of_one() -> None:
    head = tdt({}, (0, 1), (0.4, 0.6))
    [best] = found(head, 1, BeamRules(2, CAP))
    assert math.exp(best.score) == pytest.approx(1.0, abs=1e-6)


def test_what_costs_too_much_more_than_the_best_is_dropped() -> None:
    head = rnnt({(BLANK, 0): (0.3, 1e-4, 0.7)})
    assert len(found(head, 1, BeamRules(3, CAP))) == 3
    assert [each.tokens for each in found(head, 1, BeamRules(3, CAP, narrow=2.0))] == [(), (0,)]


def rare_head(durations: Sequence[int], rare: float, seed: int) -> Transducer:
    """Labels are about as likely as `rare` in every frame."""
    head, drawn = table_network({}, durations), random.Random(seed)
    rows = head.joint.output.weight.T.view(NO_LABEL + 1, NUMBERS, -1)
    for last, following in NEXT.items():
        for number in range(NUMBERS):
            rows[last, number, :NO_LABEL], rows[last, number, NO_LABEL] = NEVER, 0.0
            for label in following:
                rows[last, number, label] = math.log(rare) + drawn.uniform(-1, 1)
            for place in range(len(durations)):
                rows[last, number, NO_LABEL + 1 + place] = drawn.uniform(-1, 1)
    return head


def sums_of(head: Transducer, heard: Tensor) -> Sums:
    """The probability of each text: of all ways to say it, frame by frame."""
    network, durations = NetworkHead(head), head.config.durations
    reached: dict[tuple[int, Text], float] = defaultdict(float, {(0, ()): 1.0})
    for frame, length in ((frame, length) for frame in range(len(heard)) for length in range(4)):
        for text in [text for at, text in reached if at == frame and len(text) == length]:
            share = reached.pop((frame, text))
            said, _ = network.say(text[-1] if text else NO_LABEL, network.start())
            labels, lasting = network.outputs(heard[frame], said)
            likely = labels.softmax(-1).tolist()
            chances = lasting.softmax(-1).tolist() if durations else [1.0]
            for duration, chance in zip(durations or [0], chances, strict=True):
                reached[frame + max(duration, 1), text] += share * likely[NO_LABEL] * chance
                for label in NEXT[text[-1] if text else NO_LABEL]:
                    reached[frame + duration, (*text, label)] += share * likely[label] * chance
    return summed((text, share) for (_, text), share in reached.items())


def summed(shares: Iterable[tuple[Text, float]]) -> Sums:
    total: Sums = defaultdict(float)
    for text, share in shares:
        total[text] += share
    return {text: share for text, share in total.items() if share > IMPOSSIBLE}


def native(head: Transducer, encoded: Tensor, chunk: int, width: int) -> list[tuple[Text, float]]:
    """The texts and probabilities of the hypotheses after chunks."""
    beam = LabelBeam(label_loop_of(head), BeamConfig(width))
    memory, texts = beam.begin(), [()]
    for frames in encoded.split(chunk):
        [found] = beam([frames], [memory])
        assert found is not None
        memory = found.after
        texts = [(*texts[each.parent], *each.tokens) for each in found.hypotheses]
    return list(zip(texts, memory.scores.exp().tolist(), strict=True))


@pytest.mark.parametrize("rare", [0.01, 0.3])
@pytest.mark.parametrize("kind", DURATIONS)
def test_a_wide_beam_finds_the_sum_of_all_alignments(kind: str, rare: float) -> None:
    head = rare_head(DURATIONS[kind], rare, seed=3)
    encoded = numbers(18)
    heard = head.hear(encoded)
    wanted = sums_of(head, heard)
    assert sum(wanted.values()) == pytest.approx(1.0, rel=1e-4)
    assert len(wanted) == 6
    rules = BeamRules(WIDE, 10, "frame")
    plain = beam_search(NetworkHead(head), heard, rules)
    found = summed((each.tokens, math.exp(each.score)) for each in plain)
    assert found == pytest.approx(wanted, rel=ROUGHLY)
    for chunk in (1, 7, 18):
        found = summed(native(head, encoded, chunk, WIDE))
        assert found == pytest.approx(wanted, rel=ROUGHLY)


@pytest.mark.parametrize("width", [2, 3, 4, 5])
def test_no_copy_of_a_text_takes_another_ones_place(width: int) -> None:
    """Over a long silence in which each frame may begin either label."""
    found = native(rare_head((), 0.002, seed=5), numbers(200), 3, width)
    assert len({text for text, _ in found}) == len(found) == width
    assert min(share for _, share in found) > IMPOSSIBLE
