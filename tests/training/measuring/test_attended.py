"""A model with Whisper's decoder is measured in all modes, by what the decoder has written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from written_model import RECORDING, TEXT, make_written_model

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.errors import ModelError
from earshot.models.whisper_decoder.heard_segment import BOUND, written_texts
from earshot.models.whisper_decoder.pen import WrittenWord
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer, WrittenText
from earshot.training.data.speech import Speech, load_speech
from earshot.training.measuring.attended import ByWhisper, attended_by
from earshot.training.measuring.evaluation import MODES, transcribe
from earshot.training.measuring.greedy import greedy_error_rates, heard_batch
from earshot.training.measuring.prefix_beam import Prefix

CHUNKS = [-1, 16]


@pytest.fixture(scope="module")
def model(golden_dir: Path) -> LoadedModel:
    return make_written_model(golden_dir)


@pytest.fixture(scope="module")
def speech(golden_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Speech:
    folder = tmp_path_factory.mktemp("wavs")
    path = golden_dir / "wavs" / RECORDING
    rows = f"path\tcorpus\tspeaker\tseconds\ttext\n{path}\tbooks\tann\t8.7\t{TEXT}\n"
    (folder / "dev.tsv").write_text(rows, encoding="utf-8")
    return load_speech(folder / "dev.tsv", folder / "cache")


def test_all_modes_are_measured_at_any_chunk_size(
    model: LoadedModel, speech: Speech, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = u2_of(model).config
    by_ctc = replace(config.decoding, ctc_weight=10.0)  # the decoder knows nothing
    monkeypatch.setattr(u2_of(model), "config", replace(config, decoding=by_ctc))
    found = list(transcribe(model, speech, CHUNKS))
    assert [each.chunk_size for each in found] == CHUNKS
    said = speech.utterances[0].text.split()[:-1]  # it hears more in digital silence
    for each in found:
        for mode in MODES:
            assert each.hypotheses[mode].split()[: len(said)] == said, mode
    assert list(greedy_error_rates(u2_of(model), model.tokenizer, speech, 16)) == ["books"]


def test_a_recording_has_silence_after_its_last_word(model: LoadedModel, speech: Speech) -> None:
    batch = heard_batch(u2_of(model), speech, [0])
    spoken = len(speech.features(0))
    context = u2_of(model).encoder.right_context
    assert batch.features.size(1) == spoken + context + 50
    assert len(batch.features[0, spoken:].unique()) == 1


def test_a_decoder_without_tokens_is_refused(model: LoadedModel, speech: Speech) -> None:
    with pytest.raises(ModelError, match="tokens"):
        list(transcribe(replace(model, writer=None), speech, CHUNKS))


def test_a_decoder_of_windows_hears_silence_behind_a_segment(
    model: LoadedModel, golden_dir: Path
) -> None:
    torch.manual_seed(4)
    memory, lengths = torch.randn(1, 9, 64), torch.tensor([9])
    beams = [[Prefix(tuple(model.tokenizer.encode("RED")), -1.0)]]
    heard: list[float] = []
    for each in (model, make_written_model(golden_dir, window_frames=400)):
        attended = attended_by(each, 10)
        assert isinstance(attended, ByWhisper)
        segment = attended._heard(memory[0], beams[0])
        [[found, *_]] = written_texts(attended._scorer, [segment], memory, lengths)
        heard.append(found.text.total)
    assert heard[0] != pytest.approx(heard[1], abs=0.01)


class Decoder:
    """Writes `own`, and finds what a sentence of it says likely or not."""

    def __init__(self, own: str, likely: float) -> None:
        self.own = [WrittenWord(form.strip(".").lower(), form) for form in own.split()]
        self.likely = likely

    def listen(self, memory, lengths) -> Decoder:
        assert memory.size(1) >= int(lengths.max())
        return self

    def write(self, drafts, on_pass):
        return [self.own for _ in drafts]

    def rank(self, lists, priors, wanted, on_pass):
        return [[self._told(tuple(words)) for words in own] for own in lists]

    def _told(self, words) -> WrittenText:
        is_own = [word.bare for word in words] == [word.bare for word in self.own]
        return WrittenText(words, (0.0,) * len(words), self.likely if is_own else 0.0)


class Fits:
    """CTC finds all beginnings of texts alike, but for words that begin so."""

    def __init__(self, bad: str) -> None:
        self._bad = bad

    def of(self, memory) -> Fits:
        return self

    def of_first_words(self, words):
        return [-9 * BOUND if words[:1] == [self._bad] else -1.0 for _ in range(len(words) + 1)]


def attended_with(
    decoder: Decoder, model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> ByWhisper:
    """By this decoder, and by a hearing that "bad" does not fit."""
    monkeypatch.setattr(WhisperScorer, "of", lambda *_, **__: decoder)
    attended = attended_by(model, 10)
    assert isinstance(attended, ByWhisper)
    monkeypatch.setattr(attended, "_hearing", Fits("bad"))
    return attended


@pytest.mark.parametrize(
    ("own", "likely", "attention", "rescored"),
    [
        ("Rad dog.", 5.0, "Rad dog.", "Rad dog."),
        ("Rad dog.", -5.0, "Rad dog.", "Red dog."),
        ("Bad dog.", 5.0, "Red dog.", "Red dog."),
        ("Red fog.", 5.0, "Red fog.", "Red fog."),
    ],
)
def test_attention_takes_the_own_text_that_fits_and_rescoring_the_best(
    model: LoadedModel,
    monkeypatch: pytest.MonkeyPatch,
    own: str,
    likely: float,
    attention: str,
    rescored: str,
) -> None:
    attended = attended_with(Decoder(own, likely), model, monkeypatch)
    beam = [
        Prefix(tuple(model.tokenizer.encode(text)), score)
        for text, score in (("RED DOG", -1.0), ("RED FOG", -2.0))
    ]
    silence = [Prefix((), -0.1), *beam]
    lengths = torch.tensor([9, 5])
    found = attended(torch.zeros(2, 9, 4), lengths, [silence, beam])
    assert found == [
        {"attention": "", "attention_rescoring": ""},
        {"attention": attention, "attention_rescoring": rescored},
    ]


def test_an_own_text_that_was_heard_too_is_no_text_between_two(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    attended = attended_with(Decoder("Red fog can.", -5.0), model, monkeypatch)
    beam = [
        Prefix(tuple(model.tokenizer.encode(text)), score)
        for text, score in (("RED DOG RAN", -1.0), ("RED FOG CAN", -2.0))
    ]
    (found,) = attended(torch.zeros(1, 9, 4), torch.tensor([9]), [beam])
    assert found["attention"] == found["attention_rescoring"] == "Red dog ran."
