"""What a student is judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.tokenizers.sentencepiece import SentencePieceTokenizer
from earshot.training.data.batch import Batch
from earshot.training.network.ctc_losses import ctc_losses
from earshot.training.recipe.config import Recipe
from earshot.training.run.run import open_run
from earshot.training.run.trainer import Trainer
from earshot.training.student.student_loss import StudentLoss, frames_of_pairs, parted_divergence
from earshot.training.student.student_units import student_units, teacher_units
from earshot.training.transducer.label_windows import expected_labels, windows_about
from earshot.training.transducer.transducer_loss import transducer_losses


class OneContext:
    """Draws the context that it was told."""

    def __init__(self, place: int) -> None:
        self._place = place

    def integers(self, count: int) -> int:
        assert count == 2
        return self._place


@pytest.fixture
def trainer(recipe: Recipe, tmp_path: Path) -> Trainer:
    return open_run(recipe, tmp_path / "run", torch.device("cpu"))


@pytest.fixture
def loss(trainer: Trainer) -> StudentLoss:
    student = trainer.objective.student
    assert student is not None
    return student


@pytest.fixture
def batch(trainer: Trainer) -> Batch:
    rng = np.random.default_rng(3)
    return trainer.prepared.builder.build(rng, trainer._next_examples(), 0)


def test_pairs_of_frames_come_one_frame_later() -> None:
    pairs = torch.tensor([[0.5, 2.0, 3.0]])
    assert frames_of_pairs(pairs, 4).tolist() == [[0.0, 0.5, 2.0, 3.0]]
    assert frames_of_pairs(pairs, 6).tolist() == [[0.0, 0.5, 2.0, 3.0, 3.0, 3.0]]
    assert frames_of_pairs(pairs, 2).tolist() == [[0.0, 0.5]]


def test_the_narrowest_windows_leave_a_path_whatever_the_teacher_hears() -> None:
    """From 6 on: two labels may fall into one of the student's frames."""
    torch.manual_seed(0)
    for _ in range(60):
        pairs = int(torch.randint(1, 15, ()))
        labels = int(torch.randint(1, 2 * pairs + 1, ()))
        log_probs = (4 * torch.randn(1, 2 * pairs, 6)).log_softmax(dim=-1)
        tokens = torch.randint(1, 6, (1, labels))
        counts, lengths = torch.tensor([labels]), torch.tensor([2 * pairs])
        expected = expected_labels(log_probs, lengths, tokens, counts, 0)
        at_frames = frames_of_pairs(expected[:, ::2], pairs + 1)
        windows = windows_about(at_frames, tokens, counts, 6)
        assert (windows[0, 0, 0], windows[0, -1, -1]) == (0, labels)
        assert bool((windows[0, 1:, 0] <= windows[0, :-1, -1]).all())  # neighbours meet


def test_a_student_s_units_are_its_teacher_s_by_sentencepiece_s_ids(teacher: Path) -> None:
    student, theirs = student_units(teacher), load_model(teacher).tokenizer
    assert isinstance(student, SentencePieceTokenizer)
    places = teacher_units(student, theirs)
    assert places[student.encode("low high")].tolist() == theirs.encode("low high")
    assert student.encode("low high") != theirs.encode("low high")  # <blank> is none of them


def test_a_teacher_hears_the_rows_as_they_were_placed(loss: StudentLoss, batch: Batch) -> None:
    """So its frames and the student's are of the same sound at the same time."""
    assert batch.clean_features is not None
    features, lengths = batch.clean_features
    loud, also = (
        each.exp().sum(dim=2) > 0.05 * each.exp().sum(dim=2).amax()
        for each in (features, batch.features)
    )
    for row in range(len(features)):
        theirs, ours = loud[row].nonzero(), also[row].nonzero()
        assert (theirs.min() - ours.min()).abs() <= 3
        assert (theirs.max() - ours.max()).abs() <= 3
    assert ((batch.feature_lengths - lengths).abs() <= 3).all()


def test_with_windows_over_all_labels_the_loss_is_the_sum_of_its_parts(
    trainer: Trainer, loss: StudentLoss, batch: Batch
) -> None:
    found = loss.of(batch, OneContext(1))  # type: ignore[arg-type]
    model, config = trainer.model, trainer.recipe.student
    encoded, lengths = model.encode(batch.features, batch.feature_lengths, AttentionContext(4, 0))
    labels = batch.tokens, batch.token_lengths
    count = batch.token_lengths.sum()
    assert batch.tokens.size(1) < config.window_labels
    nats = transducer_losses(model.transducer, encoded, lengths, *labels).sum() / count
    blank = model.config.vocab_size
    ctc = ctc_losses(model.ctc(encoded), lengths, *labels, blank).sum() / count
    assert found.parts["loss_per_token"] == pytest.approx(nats.item(), rel=1e-5)
    assert found.parts["ctc_per_token"] == pytest.approx(ctc.item(), rel=1e-5)
    parts = found.parts
    total = nats + config.ctc_weight * ctc + config.frames_weight * parts["l2"]
    total += config.posteriors_weight * parts["kl"]
    assert found.total.item() == pytest.approx(total.item(), rel=1e-5)


def test_the_distance_is_to_the_means_of_pairs_of_the_teacher_s_frames(
    trainer: Trainer, loss: StudentLoss, batch: Batch, teacher: Path
) -> None:
    found = loss.of(batch, OneContext(0)).parts["l2"]  # type: ignore[arg-type]
    with torch.no_grad():
        frames, counts = u2_of(load_model(teacher)).encoder(*batch.clean_features, -1, -1)
        encoded, lengths = trainer.model.encode(batch.features, batch.feature_lengths)
        ours = loss.projection(encoded)
    squares = [
        (ours[row, 1 + pair] - (frames[row, 2 * pair] + frames[row, 2 * pair + 1]) / 2).square()
        for row in range(len(frames))
        for pair in range(min(int(lengths[row]) - 1, int(counts[row]) // 2))
    ]
    assert found == pytest.approx(torch.stack(squares).mean().item(), rel=1e-4)


def test_the_divergence_is_from_the_frame_of_each_pair_that_says_more(
    trainer: Trainer, loss: StudentLoss, batch: Batch, teacher: Path
) -> None:
    found = loss.of(batch, OneContext(0)).parts["kl"]  # type: ignore[arg-type]
    loaded = load_model(teacher)
    theirs, blank = u2_of(loaded), u2_of(loaded).config.blank_id
    order = [*teacher_units(trainer.prepared.tokenizer, loaded.tokenizer).tolist(), blank]
    with torch.no_grad():
        frames, counts = theirs.encoder(*batch.clean_features, -1, -1)
        told = theirs.ctc_log_probs(frames)[..., order].exp()
        encoded, lengths = trainer.model.encode(batch.features, batch.feature_lengths)
        ours = trainer.model.ctc(encoded)
    nats = []
    for row in range(len(frames)):
        for pair in range(min(int(lengths[row]) - 1, int(counts[row]) // 2)):
            one, other = told[row, 2 * pair], told[row, 2 * pair + 1]
            target = one if one[-1] <= other[-1] else other
            nats.append(parted(target, ours[row, 1 + pair].exp()))
    assert found == pytest.approx(np.mean(nats), rel=1e-4)
    assert found > 0


def parted(theirs: Tensor, ours: Tensor) -> float:
    """From probabilities: whether a label is said, and which."""

    def nats(one: Tensor, other: Tensor) -> float:
        return float((one * (one / other).log()).sum())

    def said(each: Tensor) -> Tensor:
        return torch.stack([each[:-1].sum(), each[-1]])

    labels = (each[:-1] / each[:-1].sum() for each in (theirs, ours))
    return nats(said(theirs), said(ours)) + nats(*labels)


def test_a_frame_that_is_almost_sure_of_a_blank_tells_of_labels_all_the_same() -> None:
    theirs = torch.tensor([0.0006, 0.0003, 0.0001, 0.999]).log()
    alike = torch.tensor([0.06, 0.03, 0.01, 0.9]).log()
    other = torch.tensor([0.01, 0.03, 0.06, 0.9]).log()
    assert parted_divergence(theirs, theirs).item() == pytest.approx(0.0, abs=1e-5)
    silence = parted_divergence(alike, theirs)  # of the blank alone
    assert parted_divergence(other, theirs) - silence > 0.5


def test_each_context_is_drawn(loss: StudentLoss, batch: Batch) -> None:
    rng = np.random.default_rng(0)
    known = {loss.of(batch, OneContext(place)).parts["l2"] for place in (0, 1)}  # type: ignore[arg-type]
    assert len(known) == 2
    assert {loss.of(batch, rng).parts["l2"] for _ in range(12)} == known


def test_gradients_reach_all_of_the_student_and_nothing_of_its_teacher(
    trainer: Trainer, loss: StudentLoss, batch: Batch
) -> None:
    loss.of(batch, np.random.default_rng(0)).total.backward()
    for name, weight in (*trainer.model.named_parameters(), *loss.projection.named_parameters()):
        assert weight.grad is not None, name
        assert bool(weight.grad.isfinite().all()), name
        assert bool(weight.grad.any()), name
    assert not any(each.requires_grad for each in loss._teacher.parameters())
