import argparse

import pytest

from service.commands.stream_flags import parameters_from
from service.commands.transcribe import add_arguments
from service.settings import Settings


@pytest.mark.parametrize(("flags", "asked"), [([], False), (["--smart-format"], True)])
def test_smart_format_is_a_flag(flags, asked):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["talk.wav", *flags])
    assert parameters_from(arguments, Settings(), is_file=True).smart_format is asked
