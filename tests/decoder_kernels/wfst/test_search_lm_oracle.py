"""The oracle's rules for large models say what they are to: costs of texts, whatever the search."""

from dataclasses import replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from search_company import cut_frames
from search_lm_cases import search_lms
from search_lm_oracle import (
    END,
    START_WORD,
    UNKNOWN_WORD,
    SearchLmOracle,
    packed,
    unpacked,
)
from wfst_cases import graphs, tables
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.graph.wfst_options import WfstOptions

SCALES = st.sampled_from([0.25, 1.0, 1.0, 3.0])
WIDE = WfstOptions(beam=1e9, max_active=100_000, lattice_beam=1e9)
CASES = settings(deadline=None, max_examples=150, phases=(Phase.explicit, Phase.generate))


def exact(lm: SearchLmOracle) -> SearchLmOracle:
    """The same without limits."""
    return replace(lm, gain=float("inf"), history_beam=float("inf"), cuts={}, prices={})


def priced(lm: SearchLmOracle, text: tuple[int, ...], *, ended: bool) -> int:
    """What the models add to a text, each word after all that are before it."""
    said, total = [START_WORD], 0
    for word in text:
        total += lm.price(packed(said), word)
        said.append(word if word < len(lm.texts) else UNKNOWN_WORD)
    return total + (lm.price(packed(said), END) if ended else 0)


@given(data=st.data())
@CASES
def test_without_limits_each_text_costs_what_its_words_do(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    lm, table = exact(data.draw(search_lms(graph, data.draw(SCALES)))), data.draw(tables(graph))
    frames = data.draw(cut_frames(graph.vocab_size, most_chunks=1, longest_chunk=4)).frames
    plain, searched = (WfstOracle(graph, WIDE, table, each) for each in (None, lm))
    plain.advance(frames.tolist())
    searched.advance(frames.tolist())
    for finalize in (False, True):
        ended = plain.ends(finalize)[1]
        wanted = [(cost + priced(lm, t, ended=ended), t) for cost, t in plain.nbest(finalize)]
        assert searched.nbest(finalize) == sorted(wanted)


@given(data=st.data())
@CASES
def test_the_graphs_own_model_changes_nothing(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    lm = data.draw(search_lms(graph, data.draw(SCALES)))
    same = replace(
        lm, large=[lm.small], shares=(1.0,), history_beam=float("inf"), cuts={}, prices={}
    )
    frames = data.draw(cut_frames(graph.vocab_size, most_chunks=1, longest_chunk=5)).frames
    # A beam drops tokens of histories that a plain search has merged with cheaper ones.
    options = replace(WIDE, lattice_beam=3.0)
    plain, searched = (WfstOracle(graph, options, None, each) for each in (None, same))
    plain.advance(frames.tolist())
    searched.advance(frames.tolist())
    for finalize in (False, True):
        assert searched.best(finalize)[1] == plain.best(finalize)[1]
        assert searched.nbest(finalize) == plain.nbest(finalize)


@given(data=st.data())
@CASES
def test_the_history_beam_keeps_those_near_the_cheapest_of_a_place(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    lm = data.draw(search_lms(graph, data.draw(SCALES)))
    oracle = WfstOracle(graph, WIDE, None, lm)
    oracle.advance(data.draw(cut_frames(graph.vocab_size, 1, 4)).frames.tolist())
    for key, token in oracle.tokens.items():
        there = [other.cost for at, other in oracle.tokens.items() if at.place == key.place]
        assert token.cost <= min(there) + lm.beam


@given(data=st.data())
@CASES
def test_cutting_a_state_changes_no_price(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    lm = data.draw(search_lms(graph, data.draw(SCALES)))
    texts = st.lists(st.integers(1, len(lm.texts) + 1), max_size=5)
    said = [START_WORD, *(min(word, len(lm.texts)) for word in data.draw(texts))]
    whole = packed(
        [word if word in (START_WORD, *range(len(lm.texts))) else UNKNOWN_WORD for word in said]
    )
    cut = lm.cut(whole)
    assert unpacked(whole)[len(unpacked(whole)) - len(unpacked(cut)) :] == unpacked(cut)
    assert lm.cut(cut) == cut
    for word in (END, *range(1, len(lm.texts) + 1)):
        assert lm.price(cut, word) == lm.price(whole, word)
        assert lm.after(cut, word) == lm.after(whole, word)
