"""Where the parts of a model lie that is a file: nowhere, unless somebody says it."""

from pathlib import Path

import pytest

from earshot.streaming.errors import MissingPart
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.resolver import find_parts


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A model's file, beside which another model's graph may lie."""
    (tmp_path / GRAPH.file).touch()
    (tmp_path / "x.nemo").touch()
    return tmp_path / "x.nemo"


def test_what_lies_beside_a_file_is_not_its_own(archive):
    assert find_parts(archive) == {}
    assert find_parts(archive.parent) == {"graph": archive.parent / GRAPH.file}


def test_a_part_that_is_asked_for_is_taken(archive):
    graph = archive.parent / GRAPH.file
    assert find_parts(archive, {"graph": graph}) == {"graph": graph}
    assert find_parts(archive, {"graph": "none"}) == {}


def test_a_setting_of_a_part_that_is_not_there_is_refused(archive):
    with pytest.raises(MissingPart, match="lm_weight is a setting of the graph search"):
        find_parts(archive, named=["lm_weight"])
