"""`earshot lm`: language models of text, and how well n-grams predict other text."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from earshot.decoder_kernels.errors import GraphError, LanguageModelError, LmImageError
from earshot.decoder_kernels.lm.class_names import class_token, classes_among
from earshot.language.ngrams.arpa import read_arpa
from earshot.language.ngrams.arpa_file import write_arpa, write_image
from earshot.language.ngrams.columns import Columns, MappedColumns
from earshot.language.ngrams.kneser_ney import estimate
from earshot.language.ngrams.mixture import mix, tune
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.perplexity import ArpaScores
from earshot.language.ngrams.pruning import prune
from earshot.language.ngrams.text import Text, choose_vocabulary
from earshot.language.text.text_files import read_sentences
from earshot.service.commands import lm_images, lm_train
from earshot.service.commands.options.build_files import read_words, require_place, require_readable
from earshot.service.commands.options.build_memory import MB, require_memory
from earshot.service.commands.options.console import Stages, progress_stages, say, tell
from earshot.service.errors import StartupError

MAX_ORDER = 6
MAX_WORDS = 60_000
MAX_NGRAMS = 30_000_000
"""What `earshot graph build` reads."""
DEFAULT_MEMORY = 1024
"""Megabytes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare build, clean, perplexity, train, pack and info."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_build(actions.add_parser("build", help="from text files", allow_abbrev=False))
    _add_clean(actions.add_parser("clean", help="print text as it is spoken", allow_abbrev=False))
    _add_perplexity(
        actions.add_parser("perplexity", help="how a model predicts text", allow_abbrev=False)
    )
    lm_train.add_arguments(
        actions.add_parser("train", help="a neural one, by a recipe", allow_abbrev=False)
    )
    lm_images.add_pack_arguments(
        actions.add_parser("pack", help="make an image of an ARPA file", allow_abbrev=False)
    )
    lm_images.add_info_arguments(
        actions.add_parser("info", help="describe an image", allow_abbrev=False)
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it; returns 0."""
    try:
        code: int = arguments.do(arguments)
    except (GraphError, LanguageModelError, LmImageError) as error:
        raise StartupError(f"{arguments.action}: {error}") from error
    except MemoryError as error:
        raise StartupError(f"{arguments.action}: there is not enough memory") from error
    return code


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", type=Path, nargs="+", metavar="TEXT", help="plain, gzip or xz; taken as one text"
    )
    parser.add_argument(
        "--mix", type=Path, nargs="+", default=[], metavar="TEXT",
        help="texts of other domains, each a model of its own that is mixed in",
    )  # fmt: skip
    parser.add_argument(
        "--tune", type=Path, nargs="+", default=[], metavar="TEXT",
        help="held-out texts; --mix gets the weights under which they are likeliest",
    )  # fmt: skip
    parser.add_argument("--order", type=int, default=3, metavar="N", help="3 if absent")
    parser.add_argument(
        "--max-words", type=int, default=MAX_WORDS, metavar="N",
        help=f"the most frequent words; {MAX_WORDS:,} if absent",
    )  # fmt: skip
    parser.add_argument(
        "--words", type=Path, metavar="FILE", help="words to have in any case, one on each line"
    )
    parser.add_argument(
        "--max-ngrams",
        type=int,
        default=MAX_NGRAMS,
        metavar="N",
        help="prune to so many n-grams; words stay",
    )
    parser.add_argument(
        "--min-count",
        type=int,
        default=1,
        metavar="N",
        help="of the longest n-grams of TEXT, leave out what it has less often",
    )
    parser.add_argument(
        "--memory", type=int, default=DEFAULT_MEMORY, metavar="MB",
        help=f"what counting and packing hold at a time; {DEFAULT_MEMORY} if absent",
    )  # fmt: skip
    _add_as_is(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE",
        help="ARPA to write, zipped if .gz; an image if .lm",
    )  # fmt: skip
    parser.set_defaults(do=_build)


def _add_clean(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", type=Path, nargs="+", metavar="TEXT", help="plain, gzip or xz")
    parser.set_defaults(do=_clean, as_is=False)


def _add_perplexity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lm", type=Path, required=True, metavar="FILE", help="ARPA, plain or .gz")
    parser.add_argument("text", type=Path, nargs="+", metavar="TEXT", help="plain, gzip or xz")
    _add_as_is(parser)
    parser.set_defaults(do=_perplexity)


def _add_as_is(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as-is", action="store_true",
        help="do not clean the texts: each line is a sentence, words are between spaces",
    )  # fmt: skip


def _build(arguments: argparse.Namespace) -> int:
    _check(arguments)
    require_readable("build", [*arguments.text, *arguments.mix, *arguments.tune])
    if arguments.out.suffix == lm_images.SUFFIX:
        lm_images.tell_unusable_name(arguments.out)
    required = [] if arguments.words is None else read_words(arguments.words)
    columns = MappedColumns(arguments.out.parent, arguments.memory * MB)
    with progress_stages() as bar:
        text = _read(arguments.text, arguments, columns, bar)
        others = [_read([path], arguments, columns, bar) for path in arguments.mix]
        classes = sorted({name for each in (text, *others) for name in classes_among(each.words)})
        required = [*required, *map(class_token, classes)]
        words = choose_vocabulary([text, *others], arguments.max_words, required)
        models = []
        for part in (text, *others):
            bar(f"counting {part.num_words:,} words", None)
            least = arguments.min_count if part is text else 1
            ids = part.in_words_of(words, columns)
            models.append(estimate(words, ids, arguments.order, least, columns))
        if others:
            held_out = [_read([path], arguments, columns, bar) for path in arguments.tune]
            models = [_mixed(models, words, held_out, arguments.mix, bar)]
        bar(f"pruning {models[0].num_ngrams:,} n-grams", None)
        pruned = prune(models.pop(), arguments.max_ngrams)
        _write(pruned, arguments, columns, bar)
    counts = ", ".join(f"{len(level):,} {n}-grams" for n, level in enumerate(pruned.levels) if n)
    say(f"{arguments.out}: {counts}, of {text.num_words:,} words of text")
    lm_images.tell_classes(classes)
    if pruned.num_ngrams > arguments.max_ngrams:
        tell(f"words are never pruned: more than {arguments.max_ngrams:,} n-grams; see --max-words")
    return 0


def _write(model: NGramModel, arguments: argparse.Namespace, columns: Columns, bar: Stages) -> None:
    out: Path = arguments.out

    def tell_share(done: float) -> None:
        columns.rest()
        bar(f"writing {out.name}", done)

    if out.suffix == lm_images.SUFFIX:
        write_image(out, model, tell_share, arguments.memory * MB)
    else:
        write_arpa(out, model, tell_share)


def _check(arguments: argparse.Namespace) -> None:
    inputs = [*arguments.text, *arguments.mix, *arguments.tune, arguments.words]
    require_place(arguments.out, inputs)
    if not 1 <= arguments.order <= MAX_ORDER:
        raise StartupError(f"--order is {arguments.order}; it can be 1 to {MAX_ORDER}")
    if arguments.max_words < 0:
        raise StartupError(f"--max-words is {arguments.max_words}")
    if arguments.max_ngrams < 1:
        raise StartupError(f"--max-ngrams is {arguments.max_ngrams}")
    if arguments.min_count < 1:
        raise StartupError(f"--min-count is {arguments.min_count}")
    require_memory(arguments.memory)
    if arguments.tune and not arguments.mix:
        raise StartupError("--tune finds weights of --mix, which is not there")


def _mixed(
    models: Sequence[NGramModel],
    words: Sequence[str],
    held_out: Sequence[Text],
    paths: Sequence[Path],
    bar: Stages,
) -> NGramModel:
    weights = [1.0] * len(models)
    if held_out:
        bar("tuning the weights", None)
        weights = tune(models, [text.in_words_of(words) for text in held_out])
    for path, weight in zip(paths, weights[1:], strict=True):
        tell(f"{path.name} counts {weight:.3g} times")
    bar("mixing", None)
    return mix(models, weights)


def _clean(arguments: argparse.Namespace) -> int:
    for path in arguments.text:
        for words in read_sentences(path):
            say(" ".join(words))
    return 0


def _perplexity(arguments: argparse.Namespace) -> int:
    require_readable("perplexity", [arguments.lm, *arguments.text])
    with progress_stages() as bar:
        name = arguments.lm.name
        scores = ArpaScores(read_arpa(arguments.lm, lambda done: bar(f"reading {name}", done)))
        for path in arguments.text:
            found = scores.predict(_sentences(path, arguments.as_is, bar))
            if not found.words:
                raise LanguageModelError(f"{path.name} has no words")
            unknown = 100 * found.unknown / found.words
            say(
                f"{path}: perplexity {found.perplexity:.1f}, {found.words:,} words, "
                f"{unknown:.2f} % unknown, {found.sentences:,} sentences"
            )
    return 0


def _read(
    paths: Sequence[Path], arguments: argparse.Namespace, columns: Columns, bar: Stages
) -> Text:
    sentences = (words for path in paths for words in _sentences(path, arguments.as_is, bar))
    text = Text.of(sentences, columns)
    if not text.num_words:
        raise LanguageModelError(f"{paths[-1].name} has no words")
    return text


def _sentences(path: Path, as_is: bool, bar: Stages) -> Iterator[list[str]]:
    return read_sentences(
        path, as_is=as_is, progress=lambda done: bar(f"reading {path.name}", done)
    )
