import argparse

import pytest

from earshot.service.commands.options.stream_flags import in_language, parameters_from
from earshot.service.commands.transcribe import add_arguments
from earshot.service.errors import BadRequest
from earshot.service.settings import Settings
from earshot.streaming.entities import NO_ENTITIES, parse_entities
from earshot.streaming.lm_mix import read_lm


@pytest.mark.parametrize(("flags", "asked"), [([], False), (["--smart-format"], True)])
def test_smart_format_is_a_flag(flags, asked):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["talk.wav", *flags])
    assert parameters_from(arguments, Settings(), is_file=True).writing.smart_format is asked


@pytest.mark.parametrize(("flags", "marks"), [([], True), (["--no-punctuate"], False)])
def test_capitals_and_marks_are_written_unless_they_are_declined(flags, marks):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["talk.wav", *flags])
    assert parameters_from(arguments, Settings(), is_file=True).writing.punctuate is marks


@pytest.mark.parametrize(
    ("flags", "language"),
    [([], None), (["--language", "en-GB"], "en"), (["--language", "FR"], "fr")],
)
def test_a_language_is_asked_of_the_model_by_its_own_tag(flags, language):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["talk.wav", *flags])
    parameters = parameters_from(arguments, Settings(), is_file=True)
    heard = in_language(parameters, arguments.language, ("en", "fr"))
    assert (heard.stream.language, heard.warnings) == (language, ())
    if flags:
        with pytest.raises(BadRequest, match="the model knows de"):
            in_language(parameters, arguments.language, ("de",))
        [warning] = in_language(parameters, arguments.language, ()).warnings
        assert "does not say" in warning.message


def parsed(*flags):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["talk.wav", *flags])
    return parameters_from(arguments, Settings(), is_file=True).stream.graph


@pytest.mark.parametrize("by_file", [False, True])
def test_models_and_entities_are_those_of_a_request(tmp_path, by_file):
    given = '{"name": ["kearny", "john smith"], "drink": {"latte": 3}}'
    if by_file:
        path = tmp_path / "names.json"
        path.write_text(given, encoding="utf-8")
    graph = parsed("--lm", "on:0.5,calls:0.5", "--entities", str(path) if by_file else given)
    assert graph.lm == read_lm("on:0.5,calls:0.5")
    assert graph.entities == parse_entities(given)
    assert parsed().entities == NO_ENTITIES


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("names.json", "neither JSON nor a file: .*names.json"),
        (" ", "--entities: there are none"),
        ('["kearny"]', "a mapping is wanted"),
        ("{", "this is no JSON"),
        ('{"name": ["a ", " "]}', "member 2 of name has no words"),
    ],
)
def test_entities_that_are_none_are_named(tmp_path, monkeypatch, given, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadRequest, match=why):
        parsed("--lm", "calls", "--entities", given)


def test_a_file_of_entities_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "names.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(BadRequest, match="neither JSON nor a file"):
        parsed("--lm", "calls", "--entities", str(path))
