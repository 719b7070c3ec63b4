"""Where the tests of the mark `emulated` lie: `make cuda-test` collects no others."""

import re
from pathlib import Path

MARKS = re.compile(r"\bmark\.emulated\b")


def test_none_lies_where_make_cuda_test_does_not_look(repository_dir: Path) -> None:
    """A conftest's mark is on tests of its own folder."""
    makefile = (repository_dir / "Makefile").read_text().replace("\\\n", "")
    [places] = re.findall(r"^EMULATED := (.*)$", makefile, re.M)
    looked_at = [repository_dir / place for place in places.split()]
    assert [place for place in looked_at if not place.exists()] == []
    marking = [
        file
        for file in (repository_dir / "tests").rglob("*.py")
        if MARKS.search(file.read_text()) and file != Path(__file__)
    ]
    assert len(marking) > 5
    left_out = [
        file for file in marking if not any(file.is_relative_to(place) for place in looked_at)
    ]
    assert left_out == []
