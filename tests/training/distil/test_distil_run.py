"""Runs that start from a Whisper and learn from it."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Closed, Event, Failed, Final
from earshot.streaming.stream_config import StreamConfig
from earshot.training.distil.kept_frames import KeptFrames
from earshot.training.distil.written_texts import WrittenTexts
from earshot.training.recipe.config import PhoneConfig, Recipe, StartConfig
from earshot.training.recipe.distil_config import DistilConfig
from earshot.training.run.export import export
from earshot.training.run.run import open_run
from earshot.training.run.small_state import SMALL_FILE
from earshot.training.run.trainer import LOG_FILE
from earshot.training.run.training_state import STATE_FILE

CPU = torch.device("cpu")
WHISPER = Path(__file__).resolve().parents[2] / "golden" / "whisper" / "openai.pt"


def read_log(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / LOG_FILE).read_text().splitlines()]


BLOCK = "encoder.encoders.1.feed_forward.w_1.weight"


def test_a_student_comes_nearer_to_its_teacher(distil_recipe: Recipe, tmp_path: Path) -> None:
    open_run(distil_recipe, tmp_path / "run", CPU).run()
    log = read_log(tmp_path / "run")
    measured = [line["dev_l2"] for line in log if "dev_l2" in line]
    distances = [line["l2"] for line in log if "l2" in line]
    assert measured[-1] < 0.7 * measured[0]
    assert distances[-1] < 0.7 * distances[0]
    assert {"dev_l2_clips", "dev_l2_sentences"} <= set(log[-1])
    assert "ctc_per_token" not in log[0]


def test_an_exported_student_can_be_loaded(distil_recipe: Recipe, tmp_path: Path) -> None:
    trainer = open_run(distil_recipe, tmp_path / "run", CPU)
    trainer.run(stop_at_step=30)
    export(distil_recipe, tmp_path / "run", tmp_path / "model")
    loaded = u2_of(load_model(tmp_path / "model"))
    assert loaded.config.features.kind == "whisper"
    assert (loaded.config.features.num_mel_bins, loaded.encoder.output_size) == (10, 8)
    expected = trainer.model.state_dict()["encoder.embed.conv1.weight"].half().float()
    assert torch.equal(loaded.state_dict()["encoder.embed.conv1.weight"], expected)


def test_before_the_first_update_the_weights_are_whispers(
    distil_recipe: Recipe, tmp_path: Path
) -> None:
    trainer = open_run(distil_recipe, tmp_path / "run", CPU)
    theirs = read_whisper(distil_recipe.start.whisper).tensors["encoder.blocks.1.mlp.0.weight"]
    ours = trainer.model.state_dict()["encoder.encoders.1.feed_forward.w_1.weight"]
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("lost", [None, STATE_FILE])
def test_an_interrupted_run_goes_on(
    distil_recipe: Recipe, tmp_path: Path, lost: str | None
) -> None:
    open_run(distil_recipe, tmp_path / "run", CPU).run(stop_at_step=12)
    if lost is not None:  # what is small enough to travel is left
        (tmp_path / "run" / lost).unlink()
        assert (tmp_path / "run" / SMALL_FILE).exists()
    trainer = open_run(distil_recipe, tmp_path / "run", CPU)
    assert trainer.progress.step == 12
    trainer.run(stop_at_step=15)
    assert trainer.progress.step == 15


def test_frames_that_are_kept_are_those_that_are_computed(
    distil_recipe: Recipe, tmp_path: Path
) -> None:
    keeping = open_run(distil_recipe, tmp_path / "kept", CPU)
    distil = replace(distil_recipe.distil, keep_frames=False)
    computing = open_run(replace(distil_recipe, distil=distil), tmp_path / "computed", CPU)
    assert keeping.prepared.targets.kept
    assert not computing.prepared.targets.kept
    for trainer in (keeping, computing):
        trainer.run(stop_at_step=10)
    assert any(_there(each) for each in keeping.prepared.targets.kept.values())
    (kept,), (computed,) = (read_log(tmp_path / name) for name in ("kept", "computed"))
    assert kept["l2"] == pytest.approx(computed["l2"], rel=1e-2)


def _there(frames: KeptFrames) -> int:
    return frames.there


def test_a_stage_that_joins_others_takes_the_frames_that_are_kept(
    distil_recipe: Recipe, tmp_path: Path
) -> None:
    joins = replace(distil_recipe.data, joined_corpora=("clips",))
    lone = replace(distil_recipe.data, joined_corpora=())
    for data, run in ((lone, "first"), (joins, "second")):
        trainer = open_run(replace(distil_recipe, data=data), tmp_path / run, CPU)
        targets = trainer.prepared.targets
        assert targets is not None
        if run == "second":
            assert all(kept.there for kept in targets.kept.values())
        trainer.run(stop_at_step=5)


def test_recordings_that_nobody_has_written_down_are_heard(
    distil_recipe: Recipe, tmp_path: Path
) -> None:
    lines = distil_recipe.data.train_manifest.read_text().splitlines()
    folder = distil_recipe.data.train_manifest.parent
    columns = lines[0].split("\t")
    rows = [line.split("\t") for line in lines[1:3]]
    for row in rows:
        row[columns.index("path")] = str(folder / row[columns.index("path")])
        row[columns.index("corpus")] = "wild"
        row[columns.index("text")] = ""
    manifest = tmp_path / "wild.tsv"
    manifest.write_text("\n".join(["\t".join(columns), *map("\t".join, rows)]) + "\n")
    recipe = replace(
        distil_recipe,
        data=replace(distil_recipe.data, draws_per_epoch={"wild": 1.0}),
        distil=replace(distil_recipe.distil, untranscribed_manifests=(manifest,)),
    )
    trainer = open_run(recipe, tmp_path / "run", CPU)
    trainer.run(stop_at_step=2)
    assert trainer.progress.heard_seconds > 0


def heads_of(recipe: Recipe, model: Path, lexicon: Path) -> Recipe:
    """The second stage: phones, with the teacher in mind and the encoder at rest at first."""
    return replace(
        recipe,
        name="heads",
        start=StartConfig(model=model),
        phones=PhoneConfig(lexicon, weight=0.7, sequence_from_step=15),
        distil=DistilConfig(WHISPER, weight=10.0, teacher_pad_seconds=1.0, tail_seconds=0.2),
        optimiser=replace(
            recipe.optimiser,
            total_steps=30,
            decay_from_step=25,
            ctc_weight=1.0,
            group_rates={"encoder": 1e-4, "heads": 1e-2, "decoder": 0.0},
            frozen_groups=("encoder",),
            frozen_steps=10,
        ),
        checkpoints=replace(recipe.checkpoints, start_share=0.1, log_every=5),
    )


def test_heads_are_learnt_after_that_and_the_model_is_served(
    distil_recipe: Recipe, tmp_path: Path, lexicon: Path
) -> None:
    open_run(distil_recipe, tmp_path / "first", CPU).run(stop_at_step=30)
    export(distil_recipe, tmp_path / "first", tmp_path / "distilled")
    recipe = heads_of(distil_recipe, tmp_path / "distilled", lexicon)
    trainer = open_run(recipe, tmp_path / "second", CPU)
    before = {name: each.clone() for name, each in trainer.model.state_dict().items()}
    trainer.run(stop_at_step=10)
    after = trainer.model.state_dict()
    assert torch.equal(after[BLOCK], before[BLOCK])
    assert not torch.equal(after["encoder.narrow.weight"], before["encoder.narrow.weight"])
    trainer.run()
    log = read_log(tmp_path / "second")
    assert {"l2", "ctc_per_token", "loss"} <= set(log[0])
    assert log[-2]["ctc_per_token"] < log[0]["ctc_per_token"]
    assert "dev_phone_errors" in log[-1]
    assert not torch.equal(trainer.model.state_dict()[BLOCK], before[BLOCK])
    export(recipe, tmp_path / "second", tmp_path / "model")
    assert [type(event) for event in served(tmp_path / "model")[-2:]] == [Final, Closed]


def served(model: Path) -> list[Event]:
    """What a server's engine tells of a second of sound."""
    engine = build_engine(model, {}, EngineConfig(threads=1, max_streams=2), device="cpu")
    engine.start()
    events: list[Event] = []
    over = threading.Event()

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, Closed | Failed):
            over.set()

    try:
        stream = engine.open(StreamConfig(mode="ctc_greedy_search"), listen)
        stream.push(np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32))
        stream.finish()
        assert over.wait(60)
    finally:
        assert engine.stop(60)
    return events


def test_whispers_decoder_learns_the_texts_that_the_teacher_writes(
    decoder_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A random decoder agrees with nobody.
    monkeypatch.setattr(WrittenTexts, "_usable", lambda *call: "cat")
    network = replace(decoder_recipe.network, chunk_sizes=(4, 8, -1))
    recipe, whisper = replace(decoder_recipe, network=network), decoder_recipe.start.whisper
    trainer = open_run(recipe, tmp_path / "run", CPU)
    before = trainer.model.decoder.state_dict()["token_embedding.weight"].clone()
    assert torch.equal(before, read_whisper(whisper).tensors["decoder.token_embedding.weight"])
    trainer.run(stop_at_step=60)
    told = [line["decoder_per_token"] for line in read_log(tmp_path / "run") if "l2" in line]
    assert told[-1] < 0.5 * told[0]
    export(recipe, tmp_path / "run", tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert u2_of(loaded).whisper_decoder is not None
    assert u2_of(loaded).config.decoding.chunk_sizes == (4, 8, -1)
    assert loaded.languages == ("en",)


def test_sentences_that_the_decoder_has_no_room_for_are_left_out(
    decoder_recipe: Recipe, tmp_path: Path
) -> None:
    # Of its twelve places four are the prompt's; " Low high." takes ten.
    distil = replace(decoder_recipe.distil, sentence_corpora=("clips", "sentences"))
    trainer = open_run(replace(decoder_recipe, distil=distil), tmp_path / "run", CPU)
    trainer.run(stop_at_step=10)
    assert read_log(tmp_path / "run")[0]["decoder_per_token"] > 0
