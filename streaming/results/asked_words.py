"""Hypotheses with boosted words as their request wrote them."""

from earshot.streaming.boosting.asked_capitals import AskedCapitals
from earshot.streaming.results.hypothesis import Hypothesis, SpokenWord
from earshot.streaming.results.retold import retold, written_as


def as_asked(hypothesis: Hypothesis, capitals: AskedCapitals) -> Hypothesis:
    """The hypothesis with the request's capitals, in written forms too, which keep their marks.

    Marks that a model writes after a word of the request's are of its written form alone.
    """
    heard = hypothesis.words
    boosted = [word.boosted and not word.read_out for word in heard]
    asked = capitals.of([word.text for word in heard], boosted)
    if not any(asked):
        return hypothesis
    told = list(zip(heard, asked, strict=True))
    texts = retold(hypothesis, [text or word.text for word, text in told])
    return written_as(texts, [_form(word, text) for word, text in told])


def _form(word: SpokenWord, asked: str | None) -> str | None:
    """The written form, whose mark stays where its letters become those that were asked for."""
    form = word.written
    if asked is None:
        return form
    in_small = asked == asked.lower()
    if form is None and (in_small or len(word.text) > len(asked)):
        form = word.text
    if form is None or in_small or not form.lower().startswith(asked.lower()):
        return form
    return asked + form[len(asked) :]
