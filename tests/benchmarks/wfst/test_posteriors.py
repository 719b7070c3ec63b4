from pathlib import Path

import numpy as np

from benchmarks.wfst.posteriors import load, save, simulated, total_frames
from earshot.decoder_kernels.graph.graph import Graph

SPELLINGS = {"yes": [1, 2], "no": [3, 2]}


def test_simulated_posteriors_say_the_text_that_goes_with_them(graph: Graph) -> None:
    for utterance in simulated(graph, 3, words=4, seed=1):
        words = utterance.text.split()
        assert len(words) >= 4
        assert set(words) <= set(SPELLINGS)
        assert len(utterance.log_probs) >= sum(len(SPELLINGS[word]) for word in words)


def test_simulated_posteriors_are_probabilities(graph: Graph) -> None:
    [utterance] = simulated(graph, 1, words=20, seed=2)
    np.testing.assert_allclose(np.exp(utterance.log_probs).sum(axis=1), 1.0, rtol=1e-5)


def test_a_seed_gives_the_same_utterances_again(graph: Graph) -> None:
    one, again = simulated(graph, 2, words=5, seed=3), simulated(graph, 2, words=5, seed=3)
    other = simulated(graph, 2, words=5, seed=4)
    assert all(np.array_equal(a.log_probs, b.log_probs) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0].log_probs, other[0].log_probs)


def test_a_file_gives_back_what_was_saved(graph: Graph, tmp_path: Path) -> None:
    utterances = simulated(graph, 2, words=3, seed=5)
    save(tmp_path / "some.npz", utterances)
    found = load(tmp_path / "some.npz")
    assert [(each.corpus, each.text) for each in found] == [
        (each.corpus, each.text) for each in utterances
    ]
    assert total_frames(found) == total_frames(utterances)
    assert np.array_equal(found[1].log_probs, utterances[1].log_probs)
