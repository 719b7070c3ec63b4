"""A beam that drops nothing has the sum of all alignments of a text (Graves 2012, section 2)."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import pytest
import torch
from beam_oracle import BeamRules, beam_search
from network_head import NetworkHead
from table_network import BLANK, NUMBERS, numbers, table_network
from torch import Tensor

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of

NEXT = {BLANK: (0, 1), 0: (1,), 1: (2,), 2: ()}
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


def head_of(durations: Sequence[int], rare: float, seed: int) -> Transducer:
    """Labels are about as likely as `rare` in every frame."""
    head, drawn = table_network({}, durations), random.Random(seed)
    rows = head.joint.output.weight.T.view(BLANK + 1, NUMBERS, -1)
    for last, following in NEXT.items():
        for number in range(NUMBERS):
            rows[last, number, :BLANK], rows[last, number, BLANK] = NEVER, 0.0
            for label in following:
                rows[last, number, label] = math.log(rare) + drawn.uniform(-1, 1)
            for place in range(len(durations)):
                rows[last, number, BLANK + 1 + place] = drawn.uniform(-1, 1)
    return head


def sums_of(head: Transducer, heard: Tensor) -> Sums:
    """The probability of each text: of all ways to say it, frame by frame."""
    network, durations = NetworkHead(head), head.config.durations
    reached: dict[tuple[int, Text], float] = defaultdict(float, {(0, ()): 1.0})
    for frame, length in ((frame, length) for frame in range(len(heard)) for length in range(4)):
        for text in [text for at, text in reached if at == frame and len(text) == length]:
            share = reached.pop((frame, text))
            said, _ = network.say(text[-1] if text else BLANK, network.start())
            labels, lasting = network.outputs(heard[frame], said)
            likely = labels.softmax(-1).tolist()
            chances = lasting.softmax(-1).tolist() if durations else [1.0]
            for duration, chance in zip(durations or [0], chances, strict=True):
                reached[frame + max(duration, 1), text] += share * likely[BLANK] * chance
                for label in NEXT[text[-1] if text else BLANK]:
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
    head = head_of(DURATIONS[kind], rare, seed=3)
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
    found = native(head_of((), 0.002, seed=5), numbers(200), 3, width)
    assert len({text for text, _ in found}) == len(found) == width
    assert min(share for _, share in found) > IMPOSSIBLE
