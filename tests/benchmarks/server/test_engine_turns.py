import pytest

from benchmarks.server.engine_turns import greedy_of


@pytest.mark.parametrize(
    ("modes", "greedy"),
    [
        (("attention_rescoring", "ctc_prefix_beam_search", "ctc_greedy_search"), "ctc"),
        (("transducer_greedy_search", "ctc_greedy_search"), "transducer"),
    ],
)
def test_the_models_first_greedy_search_is_taken(modes: tuple[str, ...], greedy: str) -> None:
    config = greedy_of(modes)
    assert config.mode == f"{greedy}_greedy_search"
    assert config.endpoint.silence_ms is None
