"""Training of a tagger, from text to file."""

from dataclasses import replace

import numpy as np
import pytest

from earshot.language.marks.marked_words import Mark, marked_words
from earshot.language.marks.pauses import END, UNKNOWN
from earshot.language.marks.tagger_file import load_tagger
from earshot.training.errors import CorpusError, TrainingStateError
from earshot.training.run.time_limit import TimeLimit
from earshot.training.tagger.marked_text import MarkedTexts, marked_lines
from earshot.training.tagger.recipe import SpeechConfig, load_tagger_recipe
from earshot.training.tagger.said_text import SaidText
from earshot.training.tagger.scores import Scores, trivial_tags
from earshot.training.tagger.trainer import TaggerTrainer, held_out_scores

TEXT = "Is Anna here? No, Anna is there.\nWhere is Tom? Well, Tom is here.\n" * 20
QUIET = SpeechConfig(dropped=0, doubled=0, swapped=0, cut=0)
RECIPE = """
name = "toy"
work_dir = "run"
held_out = ["text.txt"]
[[texts]]
path = "text.txt"
share = 1.0
[network]
words = 20
hashed = 4
ends = 16
word_size = 8
end_size = 4
size = 32
[optimiser]
batch = 8
row = 16
peak_rate = 0.02
warmup_steps = 5
decay_from_step = 30
total_steps = 60
log_every = 10
save_every = 20
"""


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "toy.toml").write_text(RECIPE)
    return load_tagger_recipe(tmp_path / "toy.toml")


def test_it_learns_what_the_text_does_and_is_written_to_a_file(recipe, tmp_path):
    trainer = TaggerTrainer(recipe)
    trainer.run(TimeLimit())
    path = tmp_path / "tagger.safetensors"
    trainer.export(path)
    found = held_out_scores(load_tagger(path), recipe.held_out[0])
    assert min(found.values()) > 0.95


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(recipe):
    whole = TaggerTrainer(recipe)
    whole.run(TimeLimit())
    apart = replace(recipe, work_dir=recipe.work_dir.with_name("apart"))
    half = replace(apart, optimiser=replace(apart.optimiser, total_steps=31))
    TaggerTrainer(half).run(TimeLimit())
    rest = TaggerTrainer(apart)
    assert rest.step == 31
    rest.run(TimeLimit())
    weights = whole.network.state_dict()
    assert all((weights[name] == it).all() for name, it in rest.network.state_dict().items())


def test_a_run_of_another_recipe_is_not_taken_up(recipe):
    TaggerTrainer(replace(recipe, optimiser=replace(recipe.optimiser, total_steps=31))).run(
        TimeLimit(0)
    )
    other = replace(recipe, speech=replace(recipe.speech, swapped=0.5))
    with pytest.raises(TrainingStateError, match="swapped"):
        TaggerTrainer(other)


def texts(tmp_path, text=TEXT):
    path = tmp_path / "said.txt"
    path.write_text(text)
    return MarkedTexts([path])


def test_rows_have_the_words_of_the_text_and_its_marks(tmp_path):
    known = texts(tmp_path)
    rows = SaidText(known.texts, [1.0], QUIET, 1).rows(0, 4, 40)
    said = [known.words[number] for number in rows.word[0]]
    line = marked_words(TEXT * 2)
    all_words = [word.text for word in line]
    start = next(i for i in range(len(line)) if all_words[i : i + 40] == said)
    assert rows.mark[0].tolist() == [word.mark for word in line[start : start + 40]]
    assert rows.capital[0].tolist() == [word.capital for word in line[start : start + 40]]


def test_nobody_sees_beyond_the_end_of_an_utterance(tmp_path):
    rows = SaidText(texts(tmp_path).texts, [1.0], SpeechConfig(), 1).rows(0, 16, 64)
    over = rows.pause[:, :-1] >= END
    assert ((np.diff(rows.segment, axis=1) > 0) == over).all()
    assert over[np.diff(rows.text, axis=1) > 0].all()
    assert over.any()
    assert (rows.pause[:, -1] >= END).all()


def test_pauses_follow_marks_more_often_than_words_and_are_unknown_in_some_texts(tmp_path):
    rows = SaidText(texts(tmp_path).texts, [1.0], SpeechConfig(), 1).rows(0, 64, 64)
    inner = (rows.pause < END) & (rows.pause != UNKNOWN)
    after = {mark: (rows.pause[inner & (rows.mark == mark)] >= 3).mean() for mark in (0, 1, 2)}
    assert after[Mark.NONE] < 0.2 < after[Mark.COMMA] < after[Mark.STOP]
    assert 0.1 < (rows.pause == UNKNOWN).mean() < 0.6


def test_errors_take_words_and_leave_marks(tmp_path):
    known = texts(tmp_path)
    noisy = SpeechConfig(dropped=0.2, doubled=0.1, swapped=0.3)
    rows = SaidText(known.texts, [1.0], noisy, 1).rows(0, 64, 64)
    clean = SaidText(known.texts, [1.0], QUIET, 1).rows(0, 64, 64)
    assert 0.2 < (rows.capital == -1).mean() < 0.5
    assert (rows.mark == Mark.STOP).mean() == pytest.approx((clean.mark == Mark.STOP).mean(), 0.25)


def test_the_same_step_has_the_same_rows(tmp_path):
    known = texts(tmp_path)
    one, other = (SaidText(known.texts, [1.0], SpeechConfig(), 1).rows(7, 4, 30) for _ in "ab")
    assert all((getattr(one, name) == getattr(other, name)).all() for name in vars(one))


def test_lines_that_are_no_sentences_are_left_out_and_figures_are_said():
    lines = ["CHAPTER I.", "no capital.", "No mark", "It costs $5, Mr. Bean.", "At 11:30 am?"]
    assert [" ".join(word.form for word in line) for line in marked_lines(lines)] == [
        "It costs five dollars Mister Bean",
        "At eleven thirty A M",
    ]


def test_a_text_without_sentences_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"said\.txt has no line"):
        texts(tmp_path, "nothing of the kind\n")


def test_scores_count_what_was_told_against_what_is_true():
    true = marked_words("Well, Tom is here. Is he? I am.")
    scores = Scores()
    scores.note(true, trivial_tags([word.text for word in true]), {})
    assert scores.f1 == pytest.approx(
        {
            "full stop": 2 / 3,
            "comma": 0.0,
            "question mark": 0.0,
            "capitals": 4 / 6,
            "names inside a sentence": 0.0,
        }
    )
