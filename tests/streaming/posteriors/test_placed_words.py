"""Words of long files, aligned some at a time."""

import pytest

from earshot.streaming.posteriors import placed_words


@pytest.mark.parametrize("at_once", [1, 3, 7])
def test_some_at_a_time_are_where_all_at_once_are(decoder, say, monkeypatch, at_once):
    text = "一三四二 五六八一二三四五 六二一八"
    rows = say(text, gap=1)[None]
    [whole] = decoder.decode(rows)
    monkeypatch.setattr(placed_words, "WORDS_AT_ONCE", at_once)
    monkeypatch.setattr(placed_words, "WORDS_AHEAD", 1)
    [found] = decoder.decode(rows)
    assert whole.text == text.replace(" ", "")
    assert found.words == whole.words


def test_without_a_lattice_words_are_as_sure_as_their_tokens(decoder, say, monkeypatch):
    rows = say("一三四二")[None]
    monkeypatch.setattr(
        "earshot.decoder_kernels.wfst.wfst_search.WfstSearch.lattices",
        lambda self, slots: [None] * len(slots),
    )
    [result] = decoder.decode(rows)
    assert result.lattice is None
    probabilities = rows[0].exp().max(-1).values
    assert result.words[0].confidence == pytest.approx(float(probabilities[2]))
    joint = float(probabilities[5] * probabilities[8]) ** 0.5
    assert result.words[1].confidence == pytest.approx(joint)
