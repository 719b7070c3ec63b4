import argparse

import pytest

from earshot.service.commands.options.stream_flags import in_language, parameters_from
from earshot.service.commands.transcribe import add_arguments
from earshot.service.errors import BadRequest
from earshot.service.settings import Settings


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
