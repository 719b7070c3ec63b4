import numpy as np

from benchmarks.latency.felt_latency import Heard, Told, latencies_of, until_end_of_speech


def told(at_s: float, text: str, final: bool = False, ends_s: tuple[float, ...] = ()) -> Told:
    return Told(at_s, final, tuple(text.split()), ends_s)


def test_a_word_is_seen_where_a_result_first_has_it_as_it_stays() -> None:
    results = [
        told(1.0, "he", ends_s=(0.5,)),
        told(1.5, "hello wool", ends_s=(0.5, 1.0)),
        told(3.0, "hello world", True, (0.5, 1.0)),
    ]
    heard = Heard()
    latencies_of(results, 1.25, heard)
    assert heard == Heard(finals_s=[1.75], words_s=[1.0, 2.0], pieces=[1])


def test_a_word_that_comes_to_stand_before_others_makes_them_no_later() -> None:
    partial = told(1.5, "cat sat", ends_s=(0.7, 1.1))
    heard = Heard()
    latencies_of([partial, told(3.0, "the cat sat", True, (0.25, 0.5, 1.0))], 1.25, heard)
    assert heard.words_s == [2.75, 1.0, 0.5]


def test_the_same_word_at_another_time_is_another() -> None:
    partial = told(1.5, "no", ends_s=(0.25,))
    heard = Heard()
    latencies_of([partial, told(3.0, "no no", True, (0.25, 1.0))], 1.25, heard)
    assert heard.words_s == [1.25, 2.0]


def test_words_begin_anew_after_a_final() -> None:
    results = [
        told(1.0, "yes", True, (0.75,)),
        told(2.0, "no", ends_s=(1.5,)),
        told(4.0, "no", True, (1.5,)),
    ]
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
