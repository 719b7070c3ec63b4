"""`earshot graph`: build decoding graphs, import those of Kaldi's tools, say what is in them."""

import argparse
import json
from pathlib import Path

from earshot.decoder_kernels.errors import GraphError, LmImageError, NoCompactRule
from earshot.decoder_kernels.graph.graph import TOPOLOGIES, Graph
from earshot.decoder_kernels.graph.graph_file import read_graph, write_graph
from earshot.language.graphs.build import GRAPH_FORMS, Build, build_graph
from earshot.language.graphs.description import describe_graph
from earshot.language.graphs.foreign import import_graph
from earshot.language.graphs.implicit import implicit_graph
from earshot.language.graphs.open_ended import open_ended
from earshot.language.ngrams.stepped_model import STEP
from earshot.models.errors import ModelError
from earshot.service.commands.graph_units import GRAPH_UNITS, kind_of, load, spelling_of, units_of
from earshot.service.commands.options.build_files import read_words, require_place, require_readable
from earshot.service.commands.options.console import progress_stages, say, tell
from earshot.service.errors import StartupError
from earshot.streaming.words.graph_fit import fitting_units

NAMES_SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare build, import and info."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_build(actions.add_parser("build", help="from an ARPA model", allow_abbrev=False))
    _add_import(actions.add_parser("import", help="from Kaldi's files", allow_abbrev=False))
    _add_info(
        actions.add_parser("info", help="say what a compiled graph holds", allow_abbrev=False)
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it; returns 0."""
    try:
        code: int = arguments.do(arguments)
    except (GraphError, LmImageError, ModelError) as error:
        raise StartupError(f"{arguments.action}: {error}") from error
    return code


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lm", type=Path, required=True, metavar="FILE", help="ARPA, plain or .gz")
    parser.add_argument(
        "--lexicon", type=Path, metavar="FILE", help="a word and its units on each line"
    )
    _add_units(parser, "what words are spelled in: phones where the model has them, or else tokens")
    parser.add_argument(
        "--words", type=Path, metavar="FILE", help="build only these words, one on each line"
    )
    parser.add_argument(
        "--topology",
        choices=GRAPH_FORMS,
        default="compact",
        help="the CTC rule: left to the search (the default), or written into an explicit graph",
    )
    parser.add_argument(
        "--cost-step",
        type=float,
        default=STEP,
        metavar="NATS",
        help="round the language model to its multiples, a power of two from 0.00390625 (the "
        "default) to 0.25",
    )
    parser.add_argument(
        "--no-small-lm",
        action="store_true",
        help="leave out the language model itself; the graph is smaller, and no larger model can "
        "take its place at run time",
    )
    _add_model(parser, "the bundled model if absent")
    _add_output(parser)
    parser.set_defaults(do=_build)


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fst", type=Path, metavar="FST", help="TLG.fst or HLG.fst")
    parser.add_argument("--words", type=Path, metavar="FILE", help="words.txt beside FST if absent")
    parser.add_argument(
        "--tokens", type=Path, metavar="FILE", help="tokens.txt beside FST if absent"
    )
    parser.add_argument("--blank", metavar="UNIT", help="if it is neither <blank> nor <blk>")
    parser.add_argument(
        "--topology",
        choices=TOPOLOGIES,
        help="compact or normal: FST is an LG, and the search is to add this CTC rule; explicit: a "
        "rule in the arcs stays there. If absent, a compact rule is taken out of the arcs",
    )
    _add_model(parser, "compare its units with tokens.txt")
    _add_units(parser, "which of the model's: phones where it has them, or else tokens")
    _add_output(parser)
    parser.set_defaults(do=_import)


def _add_info(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", type=Path, metavar="GRAPH")
    _add_model(parser, "check that the graph was built for it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(do=_info)


def _add_model(parser: argparse.ArgumentParser, purpose: str) -> None:
    parser.add_argument("--model", type=Path, metavar="MODEL", help=purpose)


def _add_units(parser: argparse.ArgumentParser, purpose: str) -> None:
    parser.add_argument("--units", choices=GRAPH_UNITS, help=purpose)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="GRAPH", help="what to write")


def _build(arguments: argparse.Namespace) -> int:
    require_place(arguments.out, [arguments.lm, arguments.lexicon, arguments.words])
    model = load(arguments.model)
    spelling = spelling_of(model, kind_of(model, arguments.units), arguments.lexicon)
    only = None if arguments.words is None else read_words(arguments.words)
    with progress_stages() as bar:
        done = build_graph(
            arguments.lm,
            spelling.spell,
            spelling.units,
            form=arguments.topology,
            only=only,
            step=arguments.cost_step,
            with_small_lm=not arguments.no_small_lm,
            progress=bar,
        )
        bar(f"writing {arguments.out.name}", None)
        write_graph(arguments.out, done.graph)
    _tell_left_out(done)
    say(_table(_about(arguments.out, done.graph)))
    return 0


def _import(arguments: argparse.Namespace) -> int:
    require_place(arguments.out, [arguments.fst, arguments.words, arguments.tokens])
    require_readable("import", [arguments.fst])
    model = None if arguments.model is None else load(arguments.model)
    units = None if model is None else units_of(model, kind_of(model, arguments.units)).symbols
    outcome = ""
    with progress_stages() as bar:
        graph = import_graph(
            arguments.fst,
            arguments.words or arguments.fst.with_name("words.txt"),
            arguments.tokens or arguments.fst.with_name("tokens.txt"),
            topology=arguments.topology or "explicit",
            blank=arguments.blank,
            units=units,
            progress=lambda done: bar(f"reading {arguments.fst.name}", done),
        )
        if arguments.topology is None:
            bar("taking out the CTC rule", None)
            graph, outcome = _without_rule(graph)
        graph = open_ended(graph)
        bar(f"writing {arguments.out.name}", None)
        write_graph(arguments.out, graph)
    if outcome:
        tell(outcome)
    say(_table(_about(arguments.out, graph)))
    return 0


def _without_rule(graph: Graph) -> tuple[Graph, str]:
    """The graph with the CTC rule left to the search, or as it is, and what to tell of that."""
    try:
        return implicit_graph(graph), "the compact CTC rule is left to the search: fewer arcs"
    except NoCompactRule as fault:
        return graph, f"the graph stays explicit, its CTC rule is not the compact one: {fault}"


def _info(arguments: argparse.Namespace) -> int:
    graph = read_graph(arguments.graph)
    about = _about(arguments.graph, graph)
    say(json.dumps(about, indent=2) if arguments.json else _table(about))
    if arguments.model is not None:
        units = fitting_units(graph, load(arguments.model))
        tell(f"{arguments.graph.name} fits the model {arguments.model}: spelled in its {units}")
    return 0


def _tell_left_out(done: Build) -> None:
    tell(f"{done.ngrams_used:,} of {done.ngrams:,} n-grams over {done.words:,} words are used")
    for words, why in (
        (done.unspelled, "left out for want of a spelling"),
        (done.unknown, "in --words, but not in the language model"),
    ):
        if words:
            more = len(words) - NAMES_SHOWN
            rest = f" and {more:,} more" if more > 0 else ""
            tell(f"{why}: {', '.join(words[:NAMES_SHOWN])}{rest} ({len(words):,} words)")


def _about(path: Path, graph: Graph) -> dict[str, object]:
    return {"graph": str(path), "bytes": path.stat().st_size, **describe_graph(graph)}


def _table(about: dict[str, object]) -> str:
    width = max(map(len, about))
    rows = ((name.replace("_", " "), value) for name, value in about.items())
    return "\n".join(f"{name:<{width}}  {_shown(value)}" for name, value in rows)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
