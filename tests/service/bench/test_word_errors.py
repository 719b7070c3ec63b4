import jiwer
from hypothesis import given
from hypothesis import strategies as st

from earshot.service.bench.word_errors import word_errors

WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=8).map(" ".join)


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS), min_size=1, max_size=5))
def test_it_agrees_with_jiwer(pairs):
    references, hypotheses = zip(*pairs, strict=True)
    expected = jiwer.wer(list(references), list(hypotheses))
    assert abs(word_errors(pairs) - expected) < 1e-9


def test_case_does_not_count():
    assert word_errors([("Iced Tea", "iced tea")]) == 0.0
