"""Large language models by name: of the search itself, or of what it has found."""

import pytest
from tiny_lms import SMALL, TENANT, alike, write_lm

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig


@pytest.fixture(params=[True, False])
def decoder(request, make_decoder, tmp_path):
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "tenant.lm", TENANT)
    search = GraphSearchConfig(
        lm_weight=0.5, max_active=200, lattice_beam=8.0, lm_in_search=request.param
    )
    return make_decoder(alike(tmp_path / "own", 12), search=search, lm_dir=folder)


def scores(result):
    return {each.text: each.score for each in result.nbest}


def test_a_model_by_name_decides_between_words_that_sound_alike(decoder, say):
    rows = say("一二")[None]
    [own], [tenant] = decoder.decode(rows, nbest=4), decoder.decode(rows, nbest=4, lm="tenant")
    assert (own.text, tenant.text) == ("七二", "一二")
    for text in ("一二", "七二"):
        priced = sum(TENANT[word] - SMALL[word] for word in text) + TENANT["</s>"]
        assert scores(tenant)[text] == pytest.approx(scores(own)[text] - 0.5 * priced, abs=2e-3)


def test_a_stream_may_name_one_too(decoder, say):
    with decoder.stream(lm="tenant:0.5,on:0.5") as stream:
        stream.push(say("一二"))
        assert (
            stream.finish().text
            == decoder.decode(say("一二")[None], lm="tenant:0.5,on:0.5")[0].text
        )
    assert decoder.decode(say("一二")[None])[0].text == "七二"


def test_a_name_that_is_none_is_refused_by_name(decoder, say):
    with pytest.raises(InvalidStreamConfig, match="lm=law: there is no such model"):
        decoder.decode(say("一")[None], lm="law")
