"""What stands in the log, and what does not."""

from __future__ import annotations

import json
import math
from pathlib import Path

from earshot.training.run.run_log import RunLog, UpdateRecord, append_line, cut_log


def read(path: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_updates_that_were_skipped_are_counted_and_not_averaged(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.jsonl", every=3)
    for loss in (1.0, math.inf, 3.0):
        norm = 2.0 if math.isfinite(loss) else math.nan
        log.update(UpdateRecord({"loss": loss}, norm, 1.0), {"step": 3}, rate=0.1)
    (line,) = read(tmp_path / "log.jsonl")
    assert (line["loss"], line["gradient_norm"], line["skipped"]) == (2.0, 2.0, 1)


def test_where_all_were_skipped_there_are_no_means(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.jsonl", every=1)
    log.update(UpdateRecord({"loss": math.nan}, math.nan, 1.0), {"step": 1}, rate=0.1)
    (line,) = read(tmp_path / "log.jsonl")
    assert line["skipped"] == 1
    assert "loss" not in line


def test_a_log_is_cut_to_where_a_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for step in (5, 10, 15):
        append_line(path, step=step)
    with path.open("a") as log:
        log.write('{"step": 2')
    cut_log(path, 10)
    assert [line["step"] for line in read(path)] == [5, 10]
    cut_log(tmp_path / "none.jsonl", 10)
    assert not (tmp_path / "none.jsonl").exists()
