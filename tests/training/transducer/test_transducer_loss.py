"""The loss of a transducer's head."""

from __future__ import annotations

import math

import pytest
import torch
from tiny_models import TINY_HEADS
from torch import Tensor

from earshot.models.transducer.transducer import Transducer
from earshot.training.transducer.transducer_loss import transducer_losses

HEADS = tuple(TINY_HEADS)
LENGTHS, COUNTS = torch.tensor([7, 5, 3]), torch.tensor([4, 2, 1])


@pytest.fixture(params=HEADS)
def head(request: pytest.FixtureRequest) -> Transducer:
    torch.manual_seed(11)
    head = Transducer(TINY_HEADS[request.param]).double()
    torch.nn.init.zeros_(head.predictor.embed.weight.data[head.config.blank_id])
    return head


@pytest.fixture
def batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Frames and tokens of three utterances, padded, with their lengths."""
    torch.manual_seed(3)
    encoded = torch.randn(3, 7, 16, dtype=torch.float64)
    return encoded, LENGTHS, torch.randint(1, 11, (3, 4)), COUNTS


def likelihood(head: Transducer, frames: Tensor, tokens: list[int]) -> float:
    """P(tokens | frames) by the model's own functions, one step at a time."""
    blank, durations = head.config.blank_id, head.config.durations
    said, state, rows = [], head.predictor.start(1), []
    state = type(state)(state.hidden.double(), state.cell.double())
    with torch.no_grad():
        for label in (blank, *tokens):
            projected, state = head.say(torch.tensor([label]), state)
            said.append(projected[0])
        heard = head.hear(frames)
        for frame in heard:
            row = []
            for label in said:
                labels, lasting = head.split(head.joint(frame, label))
                row.append((labels.softmax(-1), lasting.softmax(-1)))
            rows.append(row)

    def ahead(frame: int, place: int) -> float:
        if frame >= len(rows):
            return float(frame == len(rows) and place == len(tokens))
        labels, lasting = rows[frame][place]
        steps = [(int(frames_on), float(lasting[n])) for n, frames_on in enumerate(durations)]
        ways = 0.0
        for frames_on, share in steps or [(1, 1.0)]:
            if frames_on:
                ways += share * float(labels[blank]) * ahead(frame + frames_on, place)
        if place < len(tokens):
            for frames_on, share in steps or [(0, 1.0)]:
                spoken = float(labels[tokens[place]])
                ways += share * spoken * ahead(frame + frames_on, place + 1)
        return ways

    return ahead(0, 0)


def test_loss_is_the_likelihood_of_all_paths(head: Transducer, batch) -> None:
    encoded, lengths, tokens, counts = batch
    losses = transducer_losses(head, *batch)
    for row in range(3):
        said = tokens[row, : counts[row]].tolist()
        expected = -math.log(likelihood(head, encoded[row, : lengths[row]], said))
        assert float(losses[row].detach()) == pytest.approx(expected, rel=1e-9)


def test_padding_may_hold_anything(head: Transducer, batch) -> None:
    encoded, lengths, tokens, counts = (each.clone() for each in batch)
    expected = transducer_losses(head, *batch)
    encoded[1, 5:], encoded[2, 3:], tokens[1, 2:], tokens[2, 1:] = 1e3, -1e3, 7, 0
    torch.testing.assert_close(
        transducer_losses(head, encoded, lengths, tokens, counts), expected, rtol=1e-12, atol=0
    )


def test_windows_of_all_labels_change_nothing(head: Transducer, batch) -> None:
    windows = torch.arange(5).expand(3, 7, 5)
    found = transducer_losses(head, *batch, windows)
    torch.testing.assert_close(found, transducer_losses(head, *batch), rtol=1e-12, atol=0)


@torch.no_grad()
def test_windows_leave_paths_out(head: Transducer, batch) -> None:
    first = torch.tensor([0, 0, 1, 1, 2, 2, 2]).view(1, 7, 1)
    windows = (first.minimum(COUNTS.view(3, 1, 1) - 1).clamp(min=0) + torch.arange(3)).clamp(max=4)
    narrow, whole = transducer_losses(head, *batch, windows), transducer_losses(head, *batch)
    assert bool((narrow >= whole - 1e-9).all())
    assert float(narrow[0]) > float(whole[0]) + 1e-6


def test_sigma_costs_each_label_and_blank(head: Transducer, batch) -> None:
    shorter = transducer_losses(head, *batch, sigma=0.1) - transducer_losses(head, *batch)
    if head.config.durations:
        # At least as many as there are labels, at most one more a frame.
        assert bool((shorter > 0.1 * COUNTS).all() and (shorter < 0.1 * (COUNTS + LENGTHS)).all())
    else:
        torch.testing.assert_close(shorter, 0.1 * (COUNTS + LENGTHS).double())


def test_utterance_that_no_path_fits_teaches_nothing() -> None:
    torch.manual_seed(1)
    config = TINY_HEADS["tdt"]
    head = Transducer(type(config)(11, 16, 8, 12, durations=(2,)))
    losses = transducer_losses(
        head, torch.randn(1, 3, 16), torch.tensor([3]), torch.tensor([[4]]), torch.tensor([1])
    )
    losses.sum().backward()
    assert losses.tolist() == [0.0]
    assert not any(each.grad is not None and each.grad.any() for each in head.parameters())


def test_nothing_teaches_the_blanks_embedding(head: Transducer, batch) -> None:
    transducer_losses(head, *batch).sum().backward()
    gradient = head.predictor.embed.weight.grad
    assert gradient is not None
    assert not gradient[head.config.blank_id].any()
    assert gradient[batch[2][0, 0]].any()
