"""Flags of commands that decode by themselves, read as the query of /v1/listen would be."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from earshot.service.errors import BadRequest
from earshot.service.request.languages import Languages
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.settings import Settings

_BY_NAME = (
    "mode", "chunk", "format", "punctuate", "smart_format", "lm", "paragraphs", "alternatives",
    "multichannel",
)  # fmt: skip
"""Flags that are parameters of a request as they are; not every command has each."""

JSON_BEGINS = ("{", "[", '"')


def add_stream_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that become parameters of the stream."""
    parser.add_argument(
        "--smart-format", action="store_const", const="true",
        help="write numbers, dates and money in figures (English)",
    )  # fmt: skip
    parser.add_argument(
        "--no-punctuate", dest="punctuate", action="store_const", const="false", default="true",
        help="write no capitals, full stops, commas and question marks",
    )  # fmt: skip
    parser.add_argument("--mode", help="how the text is searched; one of the model's modes")
    parser.add_argument("--chunk", metavar="MS", help="hear in chunks of so many ms, or whole")
    parser.add_argument("--language", metavar="TAG", help="what is spoken, as de or en-US")
    parser.add_argument(
        "--keyterm", action="append", default=[], metavar="PHRASE[:WEIGHT]",
        help="phrase to favour; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--lm", metavar="NAME[:SHARE],...",
        help="language models of --lm-dir; on: the graph's own; off: no graph",
    )  # fmt: skip
    parser.add_argument(
        "--entities", metavar="JSON",
        help="""members of the models' classes of words, as {"name": ["kearny"]}, or a file""",
    )  # fmt: skip


def parameters_from(
    arguments: argparse.Namespace, settings: Settings, *, is_file: bool
) -> ListenParameters:
    """Check the flags as a request would be; raises BadRequest, also for an empty phrase.

    In a query that is a field which nobody filled in; on a command line it was typed.
    """
    if not all(phrase.strip() for phrase in arguments.keyterm):
        raise BadRequest("--keyterm: the phrase is empty")
    query = [("keyterm", phrase) for phrase in arguments.keyterm]
    query += [("interim_results", "true")]
    if arguments.entities is not None:
        query += [("entities", _json_of(arguments.entities))]
    query += [
        (name, str(value))
        for name in _BY_NAME
        if (value := getattr(arguments, name, None)) is not None
    ]
    return parse_parameters(query, ParameterRules.of(settings), is_file=is_file)


def _json_of(given: str) -> str:
    """JSON as it was typed, or that of a file that was named. Raises BadRequest."""
    if not given.strip():
        raise BadRequest("--entities: there are none")
    if given.lstrip().startswith(JSON_BEGINS):
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadRequest(f"--entities {given}: neither JSON nor a file: {error}") from error


def in_language(
    parameters: ListenParameters, asked: str | None, served: Sequence[str]
) -> ListenParameters:
    """The parameters with the language of a flag, which only a loaded model can check.

    served: what the model knows. Raises BadRequest for another language.
    """
    languages = Languages(tuple(served))
    warning = languages.check(asked)
    return replace(
        parameters,
        stream=replace(parameters.stream, language=languages.choose(asked)),
        warnings=(*(() if warning is None else (warning,)), *parameters.warnings),
    )
