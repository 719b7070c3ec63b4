"""`earshot lm pack` and `earshot lm info`: images of language models that a server can map."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from earshot.decoder_kernels.lm.class_names import class_token
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, LmImage
from earshot.decoder_kernels.lm.lm_pack import DEFAULT_MEMORY, pack_arpa
from earshot.decoder_kernels.lm.word_classes import image_classes
from earshot.service.commands.options.build_files import (
    require_file,
    require_place,
    require_readable,
)
from earshot.service.commands.options.build_memory import MB, require_memory
from earshot.service.commands.options.console import progress_stages, say, tell
from earshot.streaming.lm_mix import RESERVED, is_name

SUFFIX = ".lm"


def add_pack_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the ARPA file, the image to write, and how much is sorted at a time."""
    parser.add_argument("arpa", type=Path, metavar="IN", help="ARPA, plain or .gz")
    parser.add_argument("out", type=Path, metavar="OUT.lm", help="image to write")
    parser.add_argument(
        "--memory", type=int, default=DEFAULT_MEMORY // MB, metavar="MB",
        help=f"n-grams to sort at a time; {DEFAULT_MEMORY // MB} if absent",
    )  # fmt: skip
    parser.set_defaults(do=_pack)


def add_info_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the image, and whether to read all of it."""
    parser.add_argument("image", type=Path, metavar="FILE.lm", help="image to describe")
    parser.add_argument("--check", action="store_true", help="read all of it, for its checksums")
    parser.set_defaults(do=_info)


def describe(path: Path) -> str:
    """What an image has, in a line. Raises LmImageError."""
    header = LmImage(path).header
    counts = [header.words, *header.rows[1 : header.order]]
    orders = ", ".join(f"{count:,} {n}-grams" for n, count in enumerate(counts, start=1))
    each = header.file_size / header.num_ngrams
    return f"{path}: {orders}; {header.file_size / MB:,.1f} MB, {each:.2f} bytes an n-gram"


def tell_rough_numbers(rough: int) -> None:
    """Say that an image holds some numbers less exactly than its source, if it does."""
    if rough:
        tell(f"{rough:,} numbers are beyond what an image says: costs of 64 nats, back-offs of 32")


def tell_classes(names: Iterable[str]) -> None:
    """Say which classes of words requests may give members of, if there are some."""
    if classes := ", ".join(map(class_token, names)):
        say(f"classes of words: {classes}")


def tell_unusable_name(out: Path) -> None:
    """Say that requests cannot name an image where a server finds it, if they cannot."""
    if out.suffix != SUFFIX or not is_name(out.stem):
        reserved = ", ".join(RESERVED)
        tell(
            f"no request can name {out.name}: a model is NAME{SUFFIX}, 1 to 64 of a-z, 0-9, _ and "
            f"-, none of {reserved}"
        )


def _pack(arguments: argparse.Namespace) -> int:
    require_readable("pack", [arguments.arpa])
    require_place(arguments.out, [arguments.arpa], called="OUT.lm")
    require_memory(arguments.memory)
    tell_unusable_name(arguments.out)
    with progress_stages() as bar:
        name = arguments.arpa.name
        rough = pack_arpa(
            arguments.arpa,
            arguments.out,
            arguments.memory * MB,
            lambda done: bar(f"reading {name}", done) if done < 1 else bar("packing", None),
        )
    say(describe(arguments.out))
    tell_classes(image_classes(LmImage(arguments.out)))
    tell_rough_numbers(rough)
    return 0


def _info(arguments: argparse.Namespace) -> int:
    require_file("info", arguments.image)
    image = LmImage(arguments.image)
    header = image.header
    say(describe(arguments.image))
    say(f"{header.states:,} contexts, {header.holes:,} of the n-grams are contexts alone")
    say(f"costs in steps of 1/{COST_STEPS} nat; vocabulary {header.vocabulary.hex()}")
    tell_classes(image_classes(image))
    if arguments.check:
        image.check()
        say("all checksums are right")
    return 0
