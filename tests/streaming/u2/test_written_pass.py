"""The second pass by Whisper's decoder: what it ranks, what it adds, and what holds it to CTC."""

import math
from types import SimpleNamespace

import pytest
import torch

from earshot.decoder_kernels.prefix.prefix_search import PrefixHypothesis
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.whisper_decoder.heard_segment import BOUND, BOUND_A_WORD, CUT, MOST_BETWEEN
from earshot.models.whisper_decoder.mixed_texts import mixed_texts
from earshot.models.whisper_decoder.pen import WrittenWord
from earshot.models.whisper_decoder.whisper_scorer import WrittenText
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.results.hypothesis import SpokenWord, TokenHypothesis
from earshot.streaming.stream.lane import Ending
from earshot.streaming.stream.segment import Segment
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.u2.pass_weights import PassWeights
from earshot.streaming.u2.written_pass import WrittenPass

UNITS = ["<blank>", "▁", *"abcdefghijklmnopqrstuvwxyz"]
TOKENIZER = CharTokenizer(
    UnitTable.parse("".join(f"{unit} {i}\n" for i, unit in enumerate(UNITS)), "letters")
)
WEIGHT = 0.5


def words_of(text: str) -> list[WrittenWord]:
    return [WrittenWord(form.rstrip(",.?").lower(), form) for form in text.split()]


def forms(hypothesis) -> str:
    return " ".join(word.written or word.text for word in hypothesis.words)


class Decoder:
    """Writes `own`, and gives texts the log-probabilities of `likely`, others -50.

    given_up: a text that it is not asked about to its end.
    """

    def __init__(self, own: str, likely: dict[str, float], given_up: str = "") -> None:
        self.own = own
        self.given_up = given_up
        self.likely = likely
        self.asked: list[str] = []

    def listen(self, memory, lengths):
        return self

    def write(self, drafts, beat):
        self.drafts = drafts
        beat()
        return [words_of(self.own) for _ in drafts]

    def rank(self, lists, priors, wanted, beat):
        beat()
        self.priors, self.wanted = priors, wanted
        return [[self._told(words) for words in own] for own in lists]

    def _told(self, words) -> WrittenText:
        text = " ".join(word.form for word in words)
        self.asked.append(text)
        whole = text != self.given_up
        return WrittenText(tuple(words), (-0.1,) * len(words), self.likely.get(text, -50.0), whole)


class Hearing:
    """CTC's scores of texts by their words; of a beginning -100 less a nat for each word."""

    def __init__(self, fits: dict[str, float]) -> None:
        self._fits = fits

    def of(self, memory):
        return self

    def of_first_words(self, words):
        beginnings = (" ".join(words[:stop]) for stop in range(len(words) + 1))
        return [self._fits.get(each, -100.0) for each in beginnings]


def heard(text: str, score: float, boosted: str = "", member: str = "") -> TokenHypothesis:
    tokens = tuple(TOKENIZER.encode(text)) if text else ()
    size = len(tokens)
    found = PrefixHypothesis(tokens, tuple(range(size)), score, score, 0.0, (-0.5,) * size)
    hypothesis = TokenHypothesis(found, TOKENIZER, NO_BOOSTS)
    words = [
        SpokenWord(
            word.text, word.first, word.stop, word.text == boosted,
            word_class="name" if word.text == member else None,
        )
        for word in hypothesis.words
    ]  # fmt: skip
    hypothesis.__dict__["words"] = words
    return hypothesis


def attended(
    decoder, fits, hypotheses, mode="attention_rescoring", rescorers=(), boosts=(), alternatives=1
):
    segment = Segment(0, detector=None)
    segment.extend(torch.zeros(40, 4))
    config = StreamConfig(mode=mode, boosts=boosts, alternatives=alternatives)
    stream = SimpleNamespace(config=config, segment=segment)
    ending = Ending(stream, "endpoint", 0, hypotheses)
    heads = SimpleNamespace(
        ctc_log_probs=lambda memory: torch.zeros(len(memory), len(UNITS)), blank_id=0
    )
    counted = PassWeights(ctc=WEIGHT, reverse=0.0, parts={})
    WrittenPass(decoder, Hearing(fits), heads, TOKENIZER, counted, rescorers)([ending])
    return ending.scored


NBEST = [heard("red dog", -1.0), heard("red fog", -2.0)]


def test_what_was_heard_is_ranked_in_the_decoders_own_writing():
    decoder = Decoder("Red, dog.", {"Red, dog.": -9.0, "Red, fog.": -3.0})
    scored = attended(decoder, {}, NBEST)
    assert [forms(each.hypothesis) for each in scored] == ["Red, fog.", "Red, dog."]
    assert [each.score for each in scored] == [-3.0 - WEIGHT * 2, -9.0 - WEIGHT * 1]
    assert [each.hypothesis.text for each in scored] == ["red fog", "red dog"]


def test_words_of_its_own_have_the_bests_first_pass_and_what_ctc_says_of_them():
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0})
    best, *_ = attended(decoder, {"rad dog": -13.0, "red dog": -10.0}, NBEST)
    assert forms(best.hypothesis) == "Rad dog."
    assert best.hypothesis.text == "rad dog"
    assert best.score == pytest.approx(-1.0 + WEIGHT * (-1.0 - 3.0))
    assert len(best.hypothesis.frames) == len(best.hypothesis.tokens)
    assert list(best.hypothesis.words) == [
        SpokenWord("rad", 0, 3, False, written="Rad"),
        SpokenWord("dog", 4, 7, False, written="dog."),
    ]


def test_who_was_not_asked_about_to_the_end_stays_behind():
    likely = {"Red, dog.": -9.0, "Red, fog.": -3.0}
    scored = attended(Decoder("Red, dog.", likely, given_up="Red, fog."), {}, NBEST)
    assert [forms(each.hypothesis) for each in scored] == ["Red, dog.", "Red, fog."]
    assert scored[1].score == scored[0].score


def test_an_own_text_that_was_not_asked_about_to_the_end_is_left_out():
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0}, given_up="Rad dog.")
    scored = attended(decoder, {"rad dog": -13.0, "red dog": -10.0}, NBEST)
    assert [each.hypothesis.text for each in scored] == ["red dog", "red fog"]


def test_first_passes_count_and_only_what_is_told_is_wanted():
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0})
    attended(decoder, {"rad dog": -13.0, "red dog": -10.0}, NBEST)
    assert decoder.priors == [[WEIGHT * -1.0, WEIGHT * -2.0, WEIGHT * (-1.0 - 3.0)]]
    assert decoder.wanted == [1]


def test_as_many_are_wanted_as_are_told():
    decoder = Decoder("Red, dog.", {})
    attended(decoder, {}, NBEST, alternatives=3)
    assert decoder.wanted == [3]


def test_what_parts_add_counts_before_the_decoder_is_asked():
    asked = []

    def part(candidates):
        asked.extend(candidates[0].texts)
        return [[0.25 * place for place in range(len(each.texts))] for each in candidates]

    nbest = [heard("red dog", -1.0, boosted="dog"), heard("red fog", -2.0, boosted="red")]
    fits = {"rad dog": -13.0, "red dog": -10.0}
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0})
    best, *_ = attended(decoder, fits, nbest, rescorers=[part])
    assert [[tuple(word) for word in text] for text in asked] == [
        [("red", False), ("dog", True)],
        [("red", True), ("fog", False)],
        [("rad", False), ("dog", True)],
    ]
    assert decoder.priors == [[WEIGHT * -1.0, WEIGHT * -2.0 + 0.25, WEIGHT * -4.0 + 0.5]]
    assert best.hypothesis.text == "rad dog"
    assert best.score == pytest.approx(-1.0 + WEIGHT * -4.0 + 0.5)


def test_of_the_texts_between_those_that_fit_best_are_asked_about():
    own, said = "a x c x e x g x i x k x m x o", "b x d x f x h x j x l x n x p"
    between = [" ".join(each) for each in mixed_texts(own.split(), [said.split()])]
    assert len(between) > MOST_BETWEEN
    fits = {text: -11.0 + 0.1 * place for place, text in enumerate(between)}
    decoder = Decoder(own, {})
    attended(decoder, {**fits, said: -10.0, own: -12.0}, [heard(said, -1.0)])
    asked = [text.lower() for text in decoder.asked]
    assert asked == [said, own, *between[: -MOST_BETWEEN - 1 : -1]]


@pytest.mark.parametrize("nats", [-1.0, 1.0])
def test_words_that_fit_too_badly_are_left_out(nats):
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0})
    behind = BOUND + BOUND_A_WORD * 2 + nats
    fits = {"rad dog": -10.0 - behind, "red dog": -10.0, "": -99.0, "rad": -99.0}
    found = [each.hypothesis.text for each in attended(decoder, fits, NBEST)]
    assert ("rad dog" in found) == (nats < 0)


def test_a_text_that_repeats_itself_ends_where_ctc_ends():
    decoder = Decoder("Red hog. Red hog.", {"Red hog.": -1.0})
    fits = {"red hog": -11.0, "red hog red hog": -11.0 - CUT - 1, "red dog": -10.0}
    best, *_ = attended(decoder, fits, NBEST)
    assert forms(best.hypothesis) == "Red hog."


@pytest.mark.parametrize("named", ["boosted", "member"])
def test_boosted_words_and_members_of_classes_stay_where_they_were_heard(named: str) -> None:
    decoder = Decoder("Rad is hog.", {"Rad is dog.": -1.0, "Rad is hog.": 0.0})
    fits = {"rad is dog": -11.0, "rad is hog": -11.0, "red is dog": -10.0}
    best, *_ = attended(decoder, fits, [heard("red is dog", -1.0, **{named: "dog"})])
    assert forms(best.hypothesis) == "Rad is dog."
    is_boosted = named == "boosted"
    assert [word.boosted for word in best.hypothesis.words] == [False, False, is_boosted]


def test_texts_between_the_own_and_what_was_heard_are_asked_about():
    decoder = Decoder("Rad is hog.", {"Red is hog.": -1.0, "Rad is hog.": -9.0})
    fits = {"red is dog": -10.0, "rad is hog": -12.0, "red is hog": -11.0, "rad is dog": -30.0}
    best, *_ = attended(decoder, fits, [heard("red is dog", -1.0)])
    assert decoder.asked == ["Red is dog.", "Rad is hog.", "Red is hog.", "Rad is dog."]
    assert decoder.priors[0][2] == pytest.approx(WEIGHT * (-1.0 - 1.0))
    assert best.hypothesis.text == "red is hog"
    assert best.score == pytest.approx(-1.0 + WEIGHT * (-1.0 - 1.0))


@pytest.mark.parametrize("fit", [-60.0, -math.inf, math.nan])
def test_a_text_between_that_fits_too_badly_is_not_asked_about(fit):
    decoder = Decoder("Rad is hog.", {})
    fits = {"red is dog": -10.0, "rad is hog": -12.0, "red is hog": fit, "rad is dog": -11.0}
    attended(decoder, fits, [heard("red is dog", -1.0)])
    assert decoder.asked == ["Red is dog.", "Rad is hog.", "Rad is dog."]


def test_nothing_is_added_to_a_best_that_ctc_cannot_spell_in_time():
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0})
    fits = {"red dog": -math.inf, "rad dog": -10.0}
    scored = attended(decoder, fits, NBEST)
    assert [each.hypothesis.text for each in scored] == ["red dog", "red fog"]


def test_no_text_between_lacks_a_boosted_word():
    decoder = Decoder("Rad is hog.", {})
    fits = {"rad is dog": -11.0, "red is dog": -10.0}
    nbest = [heard("red is dog", -1.0, boosted="dog"), heard("red as fog", -1.5)]
    attended(decoder, fits, nbest)
    assert all("dog" in text for text in decoder.asked if text != "Red as fog.")


@pytest.mark.parametrize("mode", ["attention_rescoring", "attention"])
def test_no_text_brings_in_a_phrase_that_the_request_disfavours(mode):
    likely = {"Red is hog.": -1.0, "Rad is hog.": 0.0, "Red is dog.": -9.0}
    fits = {"red is dog": -10.0, "rad is hog": -11.0, "red is hog": -11.0, "rad is dog": -11.0}
    nbest, boosts = [heard("red is dog", -1.0)], (Boost("Is Hog", -9.0), Boost("dog", -0.5))
    decoder = Decoder("Rad is hog.", likely)
    best, *_ = attended(decoder, fits, nbest, mode=mode, boosts=boosts)
    assert not any("hog" in text for text in decoder.asked)
    assert ("Rad is dog." in decoder.asked) == (mode == "attention_rescoring")
    assert best.hypothesis.text.endswith("is dog")


def test_by_attention_alone_nothing_else_is_ranked():
    decoder = Decoder("Rad dog.", {"Rad dog.": -1.0})
    scored = attended(decoder, {"rad dog": -13.0, "red dog": -10.0}, NBEST, mode="attention")
    assert [each.hypothesis.text for each in scored] == ["rad dog"]


def test_without_attention_nothing_is_asked():
    decoder = Decoder("Rad dog.", {})
    scored = attended(decoder, {}, NBEST, mode="ctc_prefix_beam_search")
    assert [each.hypothesis for each in scored] == NBEST
    assert decoder.asked == []


def test_silence_is_not_written_about():
    decoder = Decoder("Thank you.", {"Thank you.": 0.0})
    scored = attended(decoder, {}, [heard("", -1.0)])
    assert [each.hypothesis.text for each in scored] == [""]
    assert decoder.asked == []


def test_words_that_the_model_cannot_spell_are_left_out():
    decoder = Decoder("Réd dog.", {"Réd dog.": -1.0})
    scored = attended(decoder, {"réd dog": -10.0, "red dog": -10.0}, NBEST)
    assert [each.hypothesis.text for each in scored] == ["red dog", "red fog"]


LONE = [heard("dog", -1.0), heard("fog", -2.0)]


@pytest.mark.parametrize(
    ("silence", "attention", "said"),
    [(-8.0, -1.0, "dog"), (-5.0, -1.0, ""), (-7.2, -0.5, "dog"), (-7.2, -3.0, "")],
)
def test_a_lone_word_that_explains_no_more_than_silence_is_nothing(silence, attention, said):
    decoder = Decoder("Dog.", {"Dog.": attention})
    best, second, *_ = attended(decoder, {"": silence, "dog": -4.0}, LONE)
    assert best.hypothesis.text == said
    assert second.hypothesis.text == ("fog" if said else "dog")
    assert list(best.hypothesis.frames) == [] or said


def test_what_a_lone_word_leaves_unexplained_counts_against_it():
    decoder = Decoder("Dog.", {"Dog.": -1.0})
    for explained, said in ((-4.0, "dog"), (-40.0, "")):
        fits = {"": explained - 4.0, "dog": explained}
        assert attended(decoder, fits, LONE)[0].hypothesis.text == said


def test_two_words_and_a_boosted_one_are_never_nothing():
    decoder = Decoder("Dog.", {"Dog.": -30.0})
    for hypotheses in (NBEST, [heard("dog", -1.0, boosted="dog")]):
        assert attended(decoder, {"": -1.0}, hypotheses)[0].hypothesis.text


def test_a_text_that_cannot_be_told_is_not_what_is_judged():
    decoder = Decoder("Dög.", {"Dög.": -0.1, "red dog": -1.0})
    fits = {"": -1.0, "dög": -2.0, "red dog": -1.0}
    assert attended(decoder, fits, NBEST)[0].hypothesis.text == "red dog"
