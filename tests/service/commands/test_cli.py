"""The command line, up to where a model is needed."""

import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from earshot.service.commands.cli import COMMANDS, main
from earshot.service.commands.options.settings_flags import SETTING_GROUPS
from earshot.service.settings import Settings


def run(capsys, *words):
    """Exit code, stdout and stderr of a command."""
    try:
        code = main(words)
    except SystemExit as exit_:
        code = exit_.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_overview_names_every_command(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)


def test_the_version_is_that_of_the_package(capsys):
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert run(capsys, "--version") == (0, f"earshot {project['version']}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert out.startswith(f"usage: earshot {command}")


def test_serve_has_a_flag_for_every_setting(capsys):
    _, out, _ = run(capsys, "serve", "--help")
    assert [
        name for name in Settings.model_fields if f"--{name.replace('_', '-')}" not in out
    ] == []


def test_help_shows_settings_in_groups(capsys):
    grouped = [name for names in SETTING_GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(Settings.model_fields)
    _, serve, _ = run(capsys, "serve", "--help")
    _, listen, _ = run(capsys, "listen", "--help")
    assert all(f"\n{title}:\n" in serve for title in SETTING_GROUPS)
    assert "\nmodel:\n" in listen
    assert "\naddress:\n" not in listen


def test_show_config_prints_the_effective_settings(capsys, monkeypatch):
    monkeypatch.setenv("EARSHOT_MAX_STREAMS", "7")
    code, out, _ = run(capsys, "serve", "--show-config", "--port", "9", "--log-text")
    assert code == 0
    assert {"port = 9", "max_streams = 7", "log_text = true", "# model ="} <= set(out.splitlines())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["dance"], "no command 'dance'"),
        (["serve", "--port", "eighty"], "setting port"),
        (["serve", "--config", "nowhere.toml"], "nowhere.toml does not exist"),
        (["transcribe", "x.wav", "--paragraphs"], "--paragraphs: only --format json"),
        (["transcribe", "x.wav", "--alternatives", "3"], "--alternatives: only --format json"),
        (["transcribe", "x.wav"], "x.wav: cannot be read: No such file"),
        (["transcribe", "-", "--output-dir", "."], "standard input has no name"),
        (["transcribe", "x.wav", "--keyterm", ""], "the phrase is empty"),
        (["bench", "--audio", "nowhere"], "--audio nowhere"),
    ],
)
def test_what_cannot_start_says_why_in_one_line(capsys, words, named):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert named in err
    assert len(err.splitlines()) == 1


def test_a_port_in_use_is_said_before_a_model_is_loaded(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run(capsys, "serve", "--port", str(port))
    assert code == 2
    assert err == f"earshot serve: cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_help_loads_neither_the_model_nor_the_server():
    script = (
        "import sys; from earshot.service.commands.cli import main; main(['--help'])\n"
        "heavy = {'torch', 'numpy', 'fastapi', 'pydantic', 'av'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "--port", "eighty"],
        ["serve", "--show-config"],
        ["transcribe", "nowhere.wav"],
        ["transcribe", "nowhere.wav", "--keyterm", ""],
        ["transcribe", "-", "--model", "base.en"],
        ["serve", "--model", "base.en"],
        ["listen", "--lm", "a:b"],
        ["models", "--help"],
    ],
)
def test_what_needs_no_model_is_said_without_its_libraries(words):
    script = (
        "import sys; from earshot.service.commands.cli import main\n"
        f"try: main({words!r})\n"
        "except SystemExit: pass\n"
        "sys.exit('loaded: torch' if 'torch' in sys.modules else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("module", "named"),
    [
        ("raise ModuleNotFoundError('No module named sounddevice')", "pip install 'earshot-asr"),
        ("raise OSError('PortAudio library not found')", "libportaudio2"),
    ],
)
def test_listen_says_which_half_of_the_microphone_is_missing(
    capsys, monkeypatch, tmp_path, module, named
):
    (tmp_path / "sounddevice.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    code, _, err = run(capsys, "listen")
    assert code == 2
    assert named in err


@pytest.mark.parametrize("command", ["serve", "transcribe", "listen"])
def test_a_flag_of_one_value_that_is_given_twice_is_refused(capsys, command):
    code, _, error = run(capsys, command, "--model", "a", "--model", "b")
    assert code == 2
    assert error.endswith("argument --model: given twice, where it takes one value\n")


def test_a_flag_that_gathers_may_be_given_twice(capsys):
    code, _, error = run(capsys, "transcribe", "--keyterm", "a", "--keyterm", " ", "x.wav")
    assert (code, error) == (2, "earshot transcribe: --keyterm: the phrase is empty\n")
