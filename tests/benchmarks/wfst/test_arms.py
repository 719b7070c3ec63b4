import pytest

from benchmarks.wfst.arms import Arm, Outcome, against, ours, take_turns, times_slower
from benchmarks.wfst.posteriors import Utterance, simulated
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions


def test_arms_take_turns_at_each_utterance(graph: Graph) -> None:
    said: list[str] = []

    def arm(name: str) -> Arm:
        def decode(utterance: Utterance) -> Outcome:
            said.append(name)
            return Outcome(seconds=1.0)

        return Arm(name, decode)

    utterances = simulated(graph, 2, words=2, seed=1)
    take_turns([arm("one"), arm("other")], utterances, rounds=1)
    assert said == ["one", "other", "one", "other"]


def test_time_is_that_of_the_fastest_round(graph: Graph) -> None:
    [utterance] = simulated(graph, 1, words=2, seed=1)
    arm = Arm("any", lambda _: Outcome(0.0))
    arm.rounds = [[Outcome(0.2)], [Outcome(0.1)]]
    assert arm.ms_per_frame([utterance]) == pytest.approx(100.0 / len(utterance.log_probs))


@pytest.mark.parametrize("chunk_frames", [2, None])
def test_our_arm_gives_cost_text_and_tokens(graph: Graph, chunk_frames: int | None) -> None:
    [utterance] = simulated(graph, 1, words=3, seed=1)
    outcome = ours("ours", graph, WfstOptions(max_active=100), chunk_frames).decode(utterance)
    assert outcome.text == utterance.text
    assert outcome.cost > 0.0
    assert len(outcome.tokens) == (-(-len(utterance.log_probs) // 2) if chunk_frames else 0)


def test_paths_are_cheaper_equal_or_dearer_than_the_peers() -> None:
    assert against([1.0, 2.0, 3.001, 4.0], [1.5, 2.0, 3.0, 3.9]) == "1 / 2 / 1"


def test_a_peer_is_compared_with_our_fastest_setting_that_errs_no_more() -> None:
    ours = [(60.0, 4.0), (62.0, 1.0), (70.0, 0.5)]
    assert times_slower((65.0, 3.0), ours) == "3.0"
    assert times_slower((61.0, 3.0), ours) == "0.8"
    assert times_slower((59.0, 3.0), ours) == "ours does not reach it"
