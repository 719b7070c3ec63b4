import pytest

from decoder_kernels import word_boost
from decoder_kernels.errors import BoostTableError
from decoder_kernels.graph import Graph
from decoder_kernels.word_boost import WordBoostTable, WordPhrase


@pytest.mark.parametrize("limit", ["MAX_GRAFT_NODES", "MAX_CONTEXTS"])
def test_a_table_that_the_keys_cannot_hold_is_refused(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph.from_arcs(
        [], {}, 1, topology="compact", vocab_size=4, word_texts=["<eps>"], loop_node=0
    )
    phrases = [WordPhrase(((1, 2), (1, 3)), 1.0)]
    monkeypatch.setattr(word_boost, limit, 3)
    assert WordBoostTable.compile(phrases, graph).num_graft_nodes == 2
    monkeypatch.setattr(word_boost, limit, 1)
    with pytest.raises(BoostTableError, match="at most 1"):
        WordBoostTable.compile(phrases, graph)
