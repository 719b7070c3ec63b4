import numpy as np

from benchmarks.server.felt_latency import Heard, Told, latencies_of, until_end_of_speech


def told(at_s: float, text: str, final: bool = False, ends_s: tuple[float, ...] = ()) -> Told:
    return Told(at_s, final, tuple(text.split()), ends_s)


def test_a_word_is_seen_where_it_first_stands_as_it_stays() -> None:
    results = [told(1.0, "he"), told(1.5, "hello wool"), told(3.0, "hello world", True, (0.5, 1.0))]
    heard = Heard()
    latencies_of(results, 1.25, heard)
    assert heard == Heard(finals_s=[1.75], words_s=[1.0, 2.0], pieces=[1])


def test_places_of_words_begin_anew_after_a_final() -> None:
    results = [told(1.0, "yes", True, (0.75,)), told(2.0, "no"), told(4.0, "no", True, (1.5,))]
    heard = Heard()
    latencies_of([*results, told(5.0, "", True)], 2.0, heard)
    assert heard == Heard(finals_s=[2.0], words_s=[0.25, 0.5], pieces=[2])


def test_an_utterance_without_words_has_no_latency() -> None:
    heard = Heard()
    latencies_of([told(1.0, "", True)], 2.0, heard)
    assert heard == Heard()


def test_what_is_quiet_behind_speech_is_cut() -> None:
    speech = np.full(3200, 0.5, np.float32)
    samples = np.concatenate([speech, np.full(9600, 0.001, np.float32)])
    assert len(until_end_of_speech(samples)) == 3200
