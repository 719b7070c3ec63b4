"""The bundled model in a program: files, live audio, and what goes wrong."""

import gc
import itertools
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import soundfile

import earshot
from earshot.service.errors import UndecodableAudio
from earshot.service.library import transcriber as transcriber_module
from earshot.streaming.entities import read_entities
from earshot.streaming.errors import EngineStopped, InvalidStreamConfig
from earshot.streaming.lm_mix import read_lm

TEXT = "i want an iced coffee with brown sugar"


@pytest.fixture(scope="module")
def clip(repository_dir: Path) -> Path:
    return repository_dir / "web" / "samples" / "iced-coffee.opus"


@pytest.fixture(scope="module")
def seven(repository_dir: Path) -> Path:
    return repository_dir / "web" / "samples" / "seven.opus"


@pytest.fixture(scope="module")
def transcriber():
    with earshot.Transcriber(threads=1) as transcriber:
        yield transcriber


@pytest.fixture(scope="module")
def transcriber_without_graph():
    with earshot.Transcriber(graph="none", threads=1) as transcriber:
        yield transcriber


def blocks_of(path: Path) -> tuple[list[np.ndarray], int]:
    samples, rate_hz = soundfile.read(path, dtype="float32")
    return np.array_split(samples, len(samples) * 10 // rate_hz), rate_hz


def test_a_file_gives_text_words_times_and_confidences(transcriber, clip):
    result = transcriber.transcribe(clip)
    assert result.text == TEXT
    assert [word.text for word in result.words] == TEXT.split()
    times = [time for word in result.words for time in (word.start_s, word.end_s)]
    assert times == sorted(times)
    assert times[-1] < result.duration_s == pytest.approx(5.2, abs=0.1)
    assert all(0 < word.confidence <= 1 for word in result.words)


def test_bytes_an_open_file_and_samples_give_the_text_of_the_file(transcriber, clip):
    assert transcriber.transcribe(clip.read_bytes()).text == TEXT
    with clip.open("rb") as file:
        assert transcriber.transcribe(file).text == TEXT
    samples, rate_hz = soundfile.read(clip, dtype="float32")
    result = transcriber.transcribe(samples, rate_hz)
    assert result.text == TEXT
    assert result.duration_s == pytest.approx(5.2, abs=0.1)


def test_live_audio_gives_the_text_of_the_file_with_partials_before(transcriber, clip):
    told = list(transcriber.stream(*blocks_of(clip)))
    assert " ".join(each.text for each in told if each.is_final) == TEXT
    assert not told[0].is_final
    assert told[0].text


def test_bytes_at_another_rate_are_live_audio_too(transcriber, seven):
    samples, rate_hz = soundfile.read(seven, dtype="int16")
    data = np.repeat(samples, 2).tobytes()
    packets = (data[start : start + 1001] for start in range(0, len(data), 1001))
    told = list(transcriber.stream(packets, 2 * rate_hz, interim_results=False))
    assert [each.text for each in told] == ["seven"]


def test_smart_format_writes_finals_as_people_do(transcriber, clip):
    written = TEXT.replace("i", "I", 1)
    asked = {"smart_format": True, "punctuate": False}
    assert transcriber.transcribe(clip, **asked).text == written
    *partials, final = transcriber.stream(*blocks_of(clip), **asked)
    assert final.text == written
    assert partials[-1].text == TEXT


@pytest.mark.parametrize("asked", [{"punctuate": True}, {"smart_format": True}])
def test_capitals_and_marks_come_from_the_models_tagger(transcriber, clip, asked):
    result = transcriber.transcribe(clip, **asked)
    assert (result.text[:2], result.text[-1]) == ("I ", ".")
    assert [word.heard for word in result.words] == TEXT.split()
    *partials, final = transcriber.stream(*blocks_of(clip), **asked)
    assert final.text == result.text
    assert partials[-1].text.startswith("I want")


def test_boosted_phrases_are_marked_and_what_cannot_be_is_told(transcriber, clip):
    result = transcriber.transcribe(clip, boosts=["brown sugar", "中文"])
    assert [word.text for word in result.words if word.boosted] == ["brown", "sugar"]
    assert [each.phrase for each in result.unboostable] == ["中文"]


def test_keyterms_are_boosted_as_a_request_has_them(transcriber, clip):
    asked = {"keyterm": ["brown sugar:9", "中文"]}
    result = transcriber.transcribe(clip, **asked)
    assert [word.text for word in result.words if word.boosted] == ["brown", "sugar"]
    assert [each.phrase for each in result.unboostable] == ["中文"]
    live = transcriber.stream(*blocks_of(clip), **asked, interim_results=False)
    [final] = live
    assert [word.text for word in final.words if word.boosted] == ["brown", "sugar"]


@pytest.mark.parametrize("punctuate", [False, True])
def test_a_boosted_phrase_is_told_in_the_capitals_it_was_written_in(transcriber, clip, punctuate):
    result = transcriber.transcribe(clip, boosts=["Brown SUGAR"], punctuate=punctuate)
    assert "Brown SUGAR" in result.text
    *partials, final = transcriber.stream(
        *blocks_of(clip), boosts=["Brown SUGAR"], punctuate=punctuate
    )
    assert "Brown SUGAR" in final.text
    assert any("Brown SUGAR" in partial.text for partial in partials)


def test_a_boost_may_bring_its_own_weight(transcriber_without_graph, seven):
    assert transcriber_without_graph.transcribe(seven, boosts=["seven"]).text == "seven"
    against = [earshot.Boost("seven", -20.0)]
    assert transcriber_without_graph.transcribe(seven, boosts=against).text != "seven"
    finals = transcriber_without_graph.stream(
        *blocks_of(seven), boosts=against, interim_results=False
    )
    assert "seven" not in [final.text for final in finals]


def test_a_language_is_one_that_the_model_knows(transcriber, seven):
    assert transcriber.transcribe(seven, language="en-GB").text == "seven"
    for refused in (transcriber.transcribe, lambda path, **asked: transcriber.stream([], **asked)):
        with pytest.raises(InvalidStreamConfig, match="language 'fr': the model knows en"):
            refused(seven, language="fr")


def test_streams_and_files_go_on_at_the_same_time(transcriber, clip, seven):
    live = transcriber.stream(*blocks_of(clip))
    first = next(live)
    with ThreadPoolExecutor(2) as threads:
        texts = list(threads.map(lambda path: transcriber.transcribe(path).text, [seven, clip]))
    assert texts == ["seven", TEXT]
    assert not first.is_final
    assert [each.text for each in live if each.is_final] == [TEXT]


def test_two_transcribers_work_side_by_side(transcriber, transcriber_without_graph, clip, seven):
    live = transcriber.stream(*blocks_of(clip))
    other = transcriber_without_graph.stream(*blocks_of(seven))
    told = [next(live), next(other), *other, *live]
    assert [each.text for each in told if each.is_final] == ["seven", TEXT]


@pytest.mark.parametrize(
    ("file", "said"),
    [("nowhere.wav", "nowhere.wav: cannot be read: No such file"), ("README.md", "no audio")],
)
def test_a_file_that_is_none_is_named_with_the_reason(transcriber, repository_dir, file, said):
    with pytest.raises(earshot.UndecodableAudio, match=said):
        transcriber.transcribe(repository_dir / file)


@pytest.mark.parametrize("boosts", ["coffee", [" "], [earshot.Boost("")]])
def test_boosts_that_make_no_sense_are_refused_at_once(transcriber, clip, boosts):
    with pytest.raises(InvalidStreamConfig, match="boost"):
        transcriber.transcribe(clip, boosts=boosts)
    with pytest.raises(InvalidStreamConfig, match="boost"):
        transcriber.stream([], boosts=boosts)


def test_a_rate_that_no_audio_has_is_refused_at_once(transcriber):
    with pytest.raises(earshot.UndecodableAudio, match="sample rate"):
        transcriber.stream([], 16)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": "nowhere"}, "no model nowhere"),
        ({"graph": "nowhere"}, "the graph nowhere"),
        ({"device": "tpu"}, "setting device"),
        ({"threads": 0}, "setting threads"),
    ],
)
def test_a_model_that_cannot_be_used_says_why(arguments, said):
    with pytest.raises(earshot.StartupError, match=said):
        earshot.Transcriber(**arguments)


def test_after_close_nothing_is_transcribed(clip):
    transcriber = earshot.Transcriber(graph="none", threads=1)
    blocks, rate_hz = blocks_of(clip)
    live = transcriber.stream(itertools.cycle(blocks), rate_hz)
    next(live)
    transcriber.close()
    transcriber.close()
    for attempt in (lambda: list(live), lambda: transcriber.transcribe(clip)):
        with pytest.raises(EngineStopped):
            attempt()
    with pytest.raises(EngineStopped, match="closed"):
        transcriber.stream([])


def test_a_transcriber_that_nobody_closes_ends_with_its_last_reference(clip):
    live = earshot.Transcriber(graph="none", threads=1).stream(*blocks_of(clip))
    assert not next(live).is_final, "what is listened to is in use"
    engine = weakref.ref(live._utterances.gi_frame.f_locals["open_stream"].func.__self__._engine)
    del live
    gc.collect()
    assert engine() is None or not engine().running


def test_models_and_entities_are_refused_as_a_request_has_them(transcriber, clip):
    def stream(path, **asked):
        return list(transcriber.stream([], **asked))

    for refused in (transcriber.transcribe, stream):
        with pytest.raises(InvalidStreamConfig, match="lm names no language model"):
            refused(clip, entities={"name": ["kearny"]})
        with pytest.raises(InvalidStreamConfig, match="'a a a a a a a a a a a' of name has 11"):
            refused(clip, lm="calls", entities={"name": ["a " * 11]})
        with pytest.raises(InvalidStreamConfig, match="lm=calls: "):
            refused(clip, lm="calls")


def test_models_and_entities_are_those_of_the_stream(transcriber, clip, monkeypatch):
    asked = []

    def opened(engine, audio, config):
        asked.append(config.graph)
        raise UndecodableAudio("no more is needed")

    monkeypatch.setattr(transcriber_module, "FileTranscription", opened)
    given = {"name": ["kearny", "john smith"], "drink": {"latte": 3, "mocha": 1}}
    with pytest.raises(UndecodableAudio):
        transcriber.transcribe(clip, lm="on:0.5,calls:0.5", entities=given)
    [graph] = asked
    assert graph.lm == read_lm("on:0.5,calls:0.5")
    assert graph.entities == read_entities(given)
