"""What holds for the page's files: they need no build, no network, and name their licences."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import soundfile

from earshot.web import web_root

SCRIPTS = sorted(web_root().rglob("*.js"))
STYLES = sorted(web_root().rglob("*.css"))
FILES = [*SCRIPTS, *STYLES, web_root() / "index.html"]
SAMPLES = json.loads((web_root() / "samples" / "samples.json").read_text())


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.inline: list[str] = []
        self._script_without_source = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [values[name] or "" for name in ("src", "href") if name in values]
        self.inline += [name for name in values if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in values):
            self.inline.append(tag)


@pytest.fixture(scope="module")
def markup() -> _Markup:
    parser = _Markup()
    parser.feed((web_root() / "index.html").read_text())
    return parser


def test_every_link_of_the_page_leads_to_a_file_beside_it(markup: _Markup) -> None:
    assert markup.links
    for link in markup.links:
        assert link.startswith("web/")
        assert (web_root().parent / link).is_file()


def test_nothing_is_inline_so_that_a_strict_policy_holds(markup: _Markup) -> None:
    assert markup.inline == []


def test_security_policy_is_strict() -> None:
    html = (web_root() / "index.html").read_text()
    policy = re.search(r'content="(default-src[^"]+)"', html)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert "unsafe" not in policy[1]
    assert "*" not in policy[1]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_every_import_leads_to_a_module(script: Path) -> None:
    for target in re.findall(r'from "([^"]+)"|import\("([^"]+)"\)', script.read_text()):
        assert (script.parent / next(filter(None, target))).is_file()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_is_fetched_from_elsewhere_or_parsed_from_text(file: Path) -> None:
    source = file.read_text()
    assert (
        re.findall(r"(?:https?:)?//[\w.-]+\.\w{2,}", source.replace("http://www.w3.org", "")) == []
    )
    assert (
        re.findall(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|eval|document\.write)\b", source)
        == []
    )


@pytest.mark.parametrize("file", [*SCRIPTS, *STYLES], ids=lambda file: file.name)
def test_every_file_says_what_it_is_and_is_short(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert lines[0].startswith("/*")
    assert len(lines) <= 260
    assert [line for line in lines if len(line) > 100] == []


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["file"])
def test_sample_is_as_described(sample: dict[str, str]) -> None:
    info = soundfile.info(web_root() / "samples" / sample["file"])
    assert info.duration == pytest.approx(sample["seconds"], abs=0.06)
    assert (info.channels, info.format) == (1, "OGG")
    licences = (web_root() / "samples" / "LICENCES.md").read_text()
    assert f"`{sample['file']}`" in licences
    assert sample["licence"] in licences
    assert sample["source"] in licences


def test_samples_are_small_and_all_listed() -> None:
    clips = list((web_root() / "samples").glob("*.opus"))
    assert {clip.name for clip in clips} == {sample["file"] for sample in SAMPLES}
    assert sum(clip.stat().st_size for clip in clips) < 300_000
