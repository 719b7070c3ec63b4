"""`earshot synthesize`: speech for training, by the speech synthesisers of Debian."""

import argparse
import os
from pathlib import Path

from earshot.service.commands.options.console import progress_bar, say, tell
from earshot.service.commands.options.positive_numbers import positive_count
from earshot.service.commands.options.training_package import training_package
from earshot.service.errors import StartupError

with training_package():
    from earshot.training.errors import TrainingError
    from earshot.training.synthetic.engines import ENGINES
    from earshot.training.synthetic.maker import Amount, Made, Maker
    from earshot.training.synthetic.plan import Plan
    from earshot.training.synthetic.sayings.kinds import BALANCED, GRAMMARS, SENTENCES
    from earshot.training.synthetic.sentences import Sentences, read_sentences

DEFAULT_ENGINES = {"espeak-ng": 1.0, "flite": 1.0}
REJECTED_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is said, by whom, how much of it, and where it goes."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="for audio/ and manifest.tsv")
    amount = parser.add_mutually_exclusive_group(required=True)
    amount.add_argument("--hours", type=float, metavar="H", help="of speech to make")
    amount.add_argument("--count", type=int, metavar="N", help="recordings to make")
    parser.add_argument(
        "--text",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="text to take sentences from, plain, .gz or .xz",
    )
    _add_shares(parser, "--kinds", f"{SENTENCES}, {', '.join(GRAMMARS)}", BALANCED)
    _add_shares(parser, "--engines", ", ".join(ENGINES), DEFAULT_ENGINES)
    _add_range(parser, "--rate", Plan.rate)
    _add_range(parser, "--pitch", Plan.pitch)
    parser.add_argument("--corpus", help="its name in the manifest; synthetic-KIND if absent")
    parser.add_argument("--seed", type=int, default=1, help="the same for the same recordings")
    parser.add_argument(
        "--workers", type=positive_count, default=os.cpu_count() or 1, help="cores if absent"
    )


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing; returns 0."""
    try:
        amount = Amount(
            arguments.count, None if arguments.hours is None else 3600 * arguments.hours
        )
        plan = Plan(
            arguments.seed,
            dict(arguments.kinds),
            dict(arguments.engines),
            arguments.rate,
            arguments.pitch,
            arguments.corpus,
        )
        plan.required_engines()
        sentences = _sentences(plan, arguments.text)
        made = _make(Maker(arguments.folder, plan, sentences, arguments.workers), amount)
    except TrainingError as error:
        raise StartupError(str(error)) from error
    say(_summary(made))
    return 0


def _add_shares(
    parser: argparse.ArgumentParser, flag: str, names: str, shares: dict[str, float]
) -> None:
    default = " ".join(f"{name}={share:g}" for name, share in shares.items())
    parser.add_argument(
        flag,
        type=_share,
        nargs="+",
        default=list(shares.items()),
        metavar="NAME[=SHARE]",
        help=f"of {names}; shares of the recordings, 1 if absent (default {default})",
    )


def _add_range(parser: argparse.ArgumentParser, flag: str, default: tuple[float, float]) -> None:
    parser.add_argument(
        flag,
        type=_range,
        default=default,
        metavar="LOW:HIGH",
        help=f"factors of each voice's own (default {default[0]:g}:{default[1]:g})",
    )


def _share(text: str) -> tuple[str, float]:
    name, given, share = text.partition("=")
    return name, float(share) if given else 1.0


def _range(text: str) -> tuple[float, float]:
    low, high = map(float, text.split(":"))
    return low, high


def _sentences(plan: Plan, texts: list[Path]) -> Sentences:
    if SENTENCES not in plan.kinds:
        if texts:
            raise StartupError(f"--text: no {SENTENCES} are among --kinds")
        return Sentences(())
    if not texts:
        raise StartupError(f"{SENTENCES} need --text; or choose other --kinds")
    sentences = read_sentences(texts, plan.seed)
    tell(
        f"{len(sentences.sayings):,} sentences; "
        f"{sentences.unsayable:,} have no sure reading and stay out"
    )
    return sentences


def _make(maker: Maker, amount: Amount) -> Made:
    by_count = amount.count is not None
    total = float(amount.count or 0) if by_count else (amount.seconds or 0.0) / 60
    with progress_bar("recordings" if by_count else "minutes of speech", total) as advance:
        shown = 0.0

        def show(made: Made) -> None:
            nonlocal shown
            done = float(made.count) if by_count else made.seconds / 60
            advance(done - shown)
            shown = done

        return maker.make(amount, show)


def _summary(made: Made) -> str:
    lines = [f"{kind:<12}{s / 3600:8.2f} h" for kind, s in sorted(made.seconds_by_kind.items())]
    lines.append(
        f"{made.count:,} recordings, {made.seconds / 3600:.2f} h, {made.size / 1e6:.1f} MB: "
        f"{made.manifest}"
    )
    if made.rejected:
        lines.append(f"{len(made.rejected)} were no good and are left out, such as")
        lines += [f"  {reason}" for reason in made.rejected[:REJECTED_SHOWN]]
    return "\n".join(lines)
