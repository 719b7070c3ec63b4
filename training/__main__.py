"""Trains, measures and exports models: ``python -m earshot.training train RECIPE``."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tqdm import tqdm

from earshot.language.g2p.letters_to_phones import (
    LETTERS_FILE,
    LettersConfig,
    save_letters_to_phones,
)
from earshot.language.g2p.lexicon import LEXICON_FILE, Lexicon, write_lexicon_text
from earshot.language.marks.tagger_file import load_tagger
from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import ModelError
from earshot.training.data.speech import load_dev_speech
from earshot.training.errors import RecipeError, TrainingError
from earshot.training.files.cmudict import lexicon_text, read_pronunciations
from earshot.training.measuring.evaluation import FULL_CONTEXT, transcribe
from earshot.training.measuring.report import markdown_report, write_rates
from earshot.training.recipe.config import load_recipe
from earshot.training.recipe.data_root import DATA_VARIABLE, data_root, require_data
from earshot.training.run.export import export
from earshot.training.run.run import DEVICE_CHOICES, choose_device, default_folder, open_run
from earshot.training.run.time_limit import TimeLimit
from earshot.training.stages.stage_file import load_last_stage
from earshot.training.synthetic.gathering import Source, gather
from earshot.training.tagger.recipe import load_tagger_recipe
from earshot.training.tagger.trainer import TaggerTrainer, held_out_scores
from earshot.training.texts.books import LAST_FREE_YEAR, Shelf, write_books
from earshot.training.texts.letters import LEAST_ENTRIES, LettersTraining, entries_of, train_letters
from earshot.training.texts.sentences import FORMATS, Collection, write_sentences

MORE_TO_COME = 3


def train(options: argparse.Namespace) -> int:
    """Starts a run, or goes on with the one that is there; 3 while there is more of it."""
    recipe = load_recipe(options.recipe, data_root(options.data))
    trainer = open_run(recipe, options.run or default_folder(recipe), choose_device(options.device))
    if trainer.progress.step:
        print(f"going on at update {trainer.progress.step}")
    trainer.run()
    return 0 if trainer.finished else MORE_TO_COME


def export_run(options: argparse.Namespace) -> int:
    """Averages the best checkpoints of a run into a model."""
    recipe = load_last_stage(options.recipe, data_root(options.data))
    require_data(recipe.data_files, "phones.lexicon")
    export(recipe, options.run or default_folder(recipe), options.output)
    return 0


def evaluate(options: argparse.Namespace) -> int:
    """Prints word error rates on the development data; writes them by speaker to a file."""
    recipe = load_last_stage(options.recipe, data_root(options.data))
    require_data(recipe.data_files, "data.dev_manifest")
    torch.set_num_threads(recipe.optimiser.threads)
    loaded = load_model(options.model)
    speech = load_dev_speech(
        recipe.data, options.put_aside, u2_of(loaded).config.features, recipe.network.language
    )
    speech = speech.subset(options.limit) if options.limit else speech
    transcripts = list(transcribe(loaded, speech, options.chunks))
    if options.rates is not None:
        write_rates(options.rates, transcripts)
    print(markdown_report(transcripts), end="")
    return 0


def gather_recordings(options: argparse.Namespace) -> int:
    """Makes published recordings of one voice a corpus."""
    source = Source(
        options.folder,
        options.corpus,
        options.speaker,
        options.suffix,
        options.texts,
        options.only,
        options.leave_out,
    )
    gather(source, options.output, tqdm.write)
    return 0


def gather_books(options: argparse.Namespace) -> int:
    """Makes books one text for language models."""
    shelf = Shelf(
        folder=options.folder,
        until=options.until,
        undated=options.undated,
        leave_out=options.leave_out,
        unlike=options.unlike,
        beyond=options.beyond,
    )
    count = write_books(shelf, options.output, tqdm.write)
    print(f"{count} books in {options.output}")
    return 0


def gather_sentences(options: argparse.Namespace) -> int:
    """Makes collections of sentences one text for language models, and one to tune them on."""
    collections = [Collection.parse(each) for each in options.collections]
    kept, said = write_sentences(collections, options.output, options.name, options.unlike)
    print(f"{kept:,} sentences of {options.name}; left out: {said:,} that the manifest says")
    return 0


def add_pronunciations(options: argparse.Namespace) -> int:
    """Writes a lexicon, and a network that has learnt from it, into a model's directory."""
    phones = u2_of(load_model(options.model)).config.phones
    if not phones:
        raise RecipeError(f"{options.model} has no phones: its recipe gives it none")
    pronunciations = read_pronunciations(options.lexicon)
    text = lexicon_text(pronunciations)
    Lexicon(text, phones)  # raises for phones that the model does not have
    write_lexicon_text(options.model / LEXICON_FILE, text)
    entries = entries_of({word: said[0] for word, said in pronunciations.items()}, phones)
    if len(entries) < LEAST_ENTRIES:
        print("no network for other words: the lexicon's are not written in letters from a to z")
        return 0
    network, wrong = train_letters(entries, len(phones), LettersConfig(), LettersTraining())
    save_letters_to_phones(options.model / LETTERS_FILE, network)
    print(f"of words that it had not seen the network says {100 * wrong:.1f} % wrong")
    return 0


def train_tagger(options: argparse.Namespace) -> int:
    """Starts a tagger's run, or goes on with it, and writes it; 3 while there is more of it."""
    recipe = load_tagger_recipe(options.recipe, data_root(options.data))
    trainer = TaggerTrainer(recipe)
    trainer.run(TimeLimit(60 * options.minutes, 60 * options.cool_minutes))
    trainer.export(options.output)
    tagger = load_tagger(options.output)
    for path in recipe.held_out:
        found = (f"{kind} {f1:.3f}" for kind, f1 in held_out_scores(tagger, path).items())
        print(f"{path.name}: F1 of {', '.join(found)}")
    print(f"stands at update {trainer.step}; log: {trainer.log_file}")
    return 0 if trainer.finished else MORE_TO_COME


def _add_recipe_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    training = actions.add_parser("train", help="start a run, or go on with it")
    exporting = actions.add_parser("export", help="average the best checkpoints into a model")
    evaluating = actions.add_parser("evaluate", help="word error rates on the development data")
    for action in (training, exporting, evaluating):
        action.add_argument("recipe", type=Path)
        action.add_argument(
            "--data",
            type=Path,
            help=f"its data; {DATA_VARIABLE}, or its folder, if absent",
        )
    for action in (training, exporting):
        action.add_argument("--run", type=Path, help="checkpoints and log")
    training.add_argument("--device", choices=DEVICE_CHOICES, default="auto")
    exporting.add_argument(
        "--output",
        type=Path,
        required=True,
        help="model directory to write; a student's may be a .nemo",
    )
    evaluating.add_argument("--model", type=Path, required=True, help="model directory")
    evaluating.add_argument("--rates", type=Path, help="file for rates by corpus and speaker")
    evaluating.add_argument(
        "--put-aside", action="store_true", help="only what is kept for the end of all choices"
    )
    evaluating.add_argument("--limit", type=int, default=0, help="utterances; 0 for all")
    evaluating.add_argument(
        "--chunks",
        type=int,
        nargs="+",
        default=[FULL_CONTEXT, 16, 8, 4],
        help="chunk sizes in encoder frames, -1 for full context",
    )
    training.set_defaults(do=train)
    exporting.set_defaults(do=export_run)
    evaluating.set_defaults(do=evaluate)


def _add_pronunciations(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    adding = actions.add_parser("pronunciations", help="give a model with phones a lexicon")
    adding.add_argument("lexicon", type=Path, help="in the format of the CMU dictionary")
    adding.add_argument("--model", type=Path, required=True, help="model directory")
    adding.set_defaults(do=add_pronunciations)


def _add_gathering(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    gathering = actions.add_parser("gather", help="add recordings of one voice to a manifest")
    gathering.add_argument("folder", type=Path, help="of recordings")
    gathering.add_argument("--corpus", required=True, help="name in recipes")
    gathering.add_argument("--speaker", required=True)
    gathering.add_argument("--suffix", default=".wav", help=".wav if absent")
    gathering.add_argument(
        "--texts", type=Path, help="lines `name: text`; else a .txt beside each recording"
    )
    gathering.add_argument("--only", nargs="+", default=["*"], help="patterns of names")
    gathering.add_argument("--leave-out", nargs="+", default=[], help="patterns of names")
    gathering.add_argument("--output", type=Path, required=True, help="folder of the manifest")
    gathering.set_defaults(do=gather_recordings)


def _add_books(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    books = actions.add_parser("books", help="make books one text")
    books.add_argument("folder", type=Path, help="of books")
    books.add_argument("--until", type=int, default=LAST_FREE_YEAR, help="last year of writing")
    books.add_argument("--undated", action="store_true", help="take books that name no year too")
    books.add_argument("--leave-out", nargs="+", default=[], help="patterns of AUTHOR/TITLE")
    books.add_argument("--unlike", type=Path, help="manifest of speech that no book may say")
    books.add_argument(
        "--beyond", type=Path, nargs="+", default=[], help="texts made earlier: no book again"
    )
    books.add_argument("--output", type=Path, required=True, help="xz file to write")
    books.set_defaults(do=gather_books)


def _add_sentences(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sentences = actions.add_parser("sentences", help="make collections of sentences one text")
    sentences.add_argument("name", help="of the files NAME.txt and NAME.held_out.txt")
    sentences.add_argument(
        "collections",
        nargs="+",
        metavar="FORMAT=PATTERN",
        help=f"files, as in a shell, and how they hold sentences: {', '.join(FORMATS)}",
    )
    sentences.add_argument("--unlike", type=Path, help="manifest of speech that none may say")
    sentences.add_argument("--output", type=Path, required=True, help="folder to write to")
    sentences.set_defaults(do=gather_sentences)


def _add_tagger(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    tagger = actions.add_parser("tagger", help="train a tagger of capitals and marks")
    tagger.add_argument("recipe", type=Path)
    tagger.add_argument("--data", type=Path, help=f"its texts; {DATA_VARIABLE} if absent")
    tagger.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    tagger.add_argument(
        "--cool-minutes", type=float, default=0.0, help="of these, with a rate that falls"
    )
    tagger.add_argument("--output", type=Path, required=True, help="file to write")
    tagger.set_defaults(do=train_tagger)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m earshot.training", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    _add_recipe_actions(actions)
    _add_pronunciations(actions)
    _add_gathering(actions)
    _add_books(actions)
    _add_sentences(actions)
    _add_tagger(actions)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one action; 1 and a message if the recipe, the data or the model is wrong."""
    options = parse(arguments)
    try:
        code: int = options.do(options)
    except (TrainingError, ModelError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
