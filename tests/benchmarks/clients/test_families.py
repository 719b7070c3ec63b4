"""Programs of clients are run, and what they show is a line of the table."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.clients import environments, families
from benchmarks.clients.environments import Environment
from benchmarks.clients.examples import Example, examples
from benchmarks.clients.families import Server, line, run
from benchmarks.clients.family import FAMILIES, Family
from benchmarks.clients.tls_front import Front

SEEN = {"partials": ["a"], "finals": ["a b"], "files": ["a b"], "errors": ["E 400: x", "F: y"]}

HERE = Server("here:1", "wyoming:2", Front("tls:3", Path("certificate.pem")))


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Family:
    """One whose program is a test's, in an environment that is this one."""
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setattr(families, "PROGRAMS", tmp_path)
    (tmp_path / "here" / "bin").mkdir(parents=True)
    (tmp_path / "here" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "here" / "packages").write_text("a==1\n")  # as after an installation
    return Family("A client", Environment("here", ("a==1",)), "program.py", "all of it")


def spoken(tmp_path: Path) -> list[Example]:
    return [Example(tmp_path / "one.wav", "a b"), Example(tmp_path / "two.wav", "a b")]


def test_a_program_is_told_the_address_and_each_recording(family: Family, tmp_path: Path) -> None:
    program = f"import sys\nopen({str(tmp_path / 'told')!r}, 'a').write(repr(sys.argv[1:]))\n"
    (tmp_path / "program.py").write_text(f"{program}print({json.dumps(SEEN)!r})")
    verdict = run(family, HERE, spoken(tmp_path))
    one, two = (["here:1", str(tmp_path / name)] for name in ("one.wav", "two.wav"))
    assert (tmp_path / "told").read_text() == f"{one}{two}"
    assert line(family, verdict) == [
        "A client", "`a==1`", "2", "0 %", "`E 400`, `F`", "all of it"
    ]  # fmt: skip


def test_a_program_that_fails_is_amiss_with_its_error(family: Family, tmp_path: Path) -> None:
    told = "Traceback\\nConnectionError: nobody listens\\n\\nNode.js v20"
    (tmp_path / "program.py").write_text(f'raise SystemExit("{told}")')
    verdict = run(family, HERE, spoken(tmp_path))
    assert verdict.amiss == ("it failed: ConnectionError: nobody listens",)
    assert line(family, verdict)[-1] == (
        "**amiss: it failed: ConnectionError: nobody listens**. all of it"
    )


def test_a_program_that_shows_nothing_is_amiss(family: Family, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('[]')")
    told = "it failed: the program printed nothing that was seen"
    assert run(family, HERE, spoken(tmp_path)).amiss == (told,)


def test_a_client_that_cannot_be_installed_is_amiss(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    script = replace(family, environment=Environment("there", ("a@1.0",), is_node=True))
    told = "it failed: [Errno 2] No such file or directory: 'npm'"
    assert run(script, HERE, spoken(tmp_path)).amiss == (told,)


def test_every_program_is_there_and_every_package_pinned() -> None:
    programs = Path(families.__file__).with_name("programs")
    assert [each.name for each in FAMILIES if not (programs / each.program).is_file()] == []
    wanted = {name for each in FAMILIES for name in each.environment.packages}
    assert [name for name in wanted if not re.search(r"(==|.@)\d+(\.\d+)+$", name)] == []


def test_wyomings_clients_and_those_of_tls_have_ports_of_their_own() -> None:
    told = {each.name: HERE.of(each) for each in FAMILIES}
    assert {name for name, address in told.items() if address == "wyoming:2"} == {"Wyoming"}
    assert {name for name, address in told.items() if address == "tls:3"} == {
        "OpenAI realtime, JavaScript"
    }


def test_a_program_can_trust_the_certificate_in_front(family: Family, tmp_path: Path) -> None:
    raises = "import os; raise ValueError(os.environ['NODE_EXTRA_CA_CERTS'])"
    (tmp_path / "program.py").write_text(raises)
    told = "it failed: ValueError: certificate.pem"
    assert run(family, HERE, spoken(tmp_path)).amiss == (told,)


def test_the_recordings_are_the_pages_examples(tmp_path: Path) -> None:
    told = examples(tmp_path)
    assert [each.file.name for each in told] == ["light-roast.wav", "the-door.wav"]
    assert told[1].said.startswith("the little girl had been asleep")
    assert told[0].file.read_bytes()[36:40] == b"data"
