import tomllib

import pytest

from earshot.service.errors import StartupError
from earshot.service.settings import Settings


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    import os

    for name in list(os.environ):
        if name.startswith("EARSHOT_"):
            monkeypatch.delenv(name)


def test_flags_beat_environment_beats_file_beats_defaults(tmp_path, monkeypatch):
    file = tmp_path / "earshot.toml"
    file.write_text("port = 1\nmax_streams = 1\ndrain_s = 1\n")
    monkeypatch.setenv("EARSHOT_MAX_STREAMS", "2")
    monkeypatch.setenv("EARSHOT_DRAIN_S", "2")
    settings = Settings.load(config=file, drain_s="3")
    assert (settings.port, settings.max_streams, settings.drain_s) == (1, 2, 3)
    assert settings.host == "127.0.0.1"


def test_the_environment_may_name_the_file(tmp_path, monkeypatch):
    file = tmp_path / "earshot.toml"
    file.write_text('allowed_origins = ["https://a", "https://b"]\n')
    monkeypatch.setenv("EARSHOT_CONFIG", str(file))
    assert Settings.load().allowed_origins == ("https://a", "https://b")


def test_lists_come_with_commas_from_flags_and_environment(monkeypatch):
    monkeypatch.setenv("EARSHOT_MODEL_ALIASES", "a, b")
    settings = Settings.load(allowed_origins="https://x,https://y")
    assert settings.model_aliases == ("a", "b")
    assert settings.allowed_origins == ("https://x", "https://y")


def test_languages_come_with_commas_too():
    assert Settings.load().languages == ()
    assert Settings.load(languages="en,zh-CN").languages == ("en", "zh-CN")


def test_strict_models_are_a_setting(monkeypatch):
    assert not Settings.load().strict_models
    monkeypatch.setenv("EARSHOT_STRICT_MODELS", "true")
    assert Settings.load().strict_models


def test_all_that_browsers_send_as_an_origin_is_one():
    origins = ("*", "null", "http://[::1]:8080", "https://a.b:1", "chrome-extension://abc")
    assert Settings.load(allowed_origins=",".join(origins)).allowed_origins == origins


def test_what_is_shown_can_be_read_back(tmp_path):
    settings = Settings.load(port="9", allowed_origins="https://x", model="some/dir")
    file = tmp_path / "shown.toml"
    file.write_text(settings.as_toml())
    assert tomllib.loads(file.read_text())["port"] == 9
    shown = Settings.load(config=file).model_dump(exclude={"config"})
    assert shown == settings.model_dump(exclude={"config"})


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"port": "80000"}, "setting port"),
        ({"port": "eighty"}, "setting port"),
        ({"allowed_origins": "foo"}, "'foo' is no origin such as https://example.org"),
        ({"allowed_origins": "https://a,https://b/"}, "'https://b/' is no origin"),
        ({"allowed_origins": "https://b/page"}, "no origin"),
        ({"max_streams": "0"}, "setting max_streams"),
        ({"max_streams": "10001"}, "setting max_streams"),
        ({"max_batch": "10001"}, "setting max_batch"),
        ({"max_files": "10001"}, "setting max_files"),
        ({"chunk_size": "4097"}, "setting chunk_size"),
        ({"num_left_chunks": "4097"}, "setting num_left_chunks"),
        ({"threads": "1025"}, "setting threads"),
        ({"max_backlog_s": "inf"}, "setting max_backlog_s"),
        ({"max_wait_ms": "inf"}, "setting max_wait_ms"),
        ({"device": "tpu"}, "setting device"),
        ({"precision": "int4"}, "setting precision"),
        ({"config": "missing.toml"}, "missing.toml does not exist"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_it(flags, named):
    with pytest.raises(StartupError, match=named) as caught:
        Settings.load(**flags)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [("prot = 1\n", "setting prot"), ("port = \n", "cannot be read"), ("\xff", "cannot be read")],
)
def test_a_wrong_file_is_one_line_too(tmp_path, text, named):
    file = tmp_path / "earshot.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(StartupError, match=named):
        Settings.load(config=file)
