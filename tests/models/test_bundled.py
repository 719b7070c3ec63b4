"""The bundled model keeps what its card says, on a sample of the development recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.language.g2p.lexicon import LEXICON_FILE, read_lexicon_text
from earshot.language.g2p.pronouncer import pronouncer_of
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.neural_lm.lm_file import NEURAL_LM_FILE, load_neural_lm
from earshot.training.data.speech import Speech, load_speech
from earshot.training.measuring.evaluation import rates_by, transcribe

RESCORING = "attention_rescoring"
SAMPLE = 60  # utterances of each corpus
MOST_MB = 90
MOST_BOOK_ERRORS = 0.17  # of words, without a graph
MOST_CLIP_ERRORS = 0.24  # of eight sentences


@pytest.fixture(scope="module")
def bundled() -> LoadedModel:
    return load_model(bundled_model_dir())


def recordings(bundled: LoadedModel, manifest: Path, folder: Path) -> Speech:
    """With the features that the model hears."""
    return load_speech(manifest, folder, features=bundled.model.config.features)


def sample(bundled: LoadedModel, speech_dir: Path, folder: Path, counts: dict[str, int]) -> Speech:
    """About so many development recordings of each corpus, evenly spaced."""
    header, *rows = (speech_dir / "dev.tsv").read_text(encoding="utf-8").splitlines()
    chosen = [header]
    for corpus, count in counts.items():
        of_corpus = [f"{speech_dir}/{row}" for row in rows if row.split("\t")[1] == corpus]
        chosen.extend(of_corpus[:: len(of_corpus) // count][:count])
    (folder / "dev.tsv").write_text("\n".join(chosen) + "\n", encoding="utf-8")
    return recordings(bundled, folder / "dev.tsv", folder / "cache")


@pytest.fixture(scope="module")
def short_clips(
    bundled: LoadedModel, speech_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Speech:
    """Wake phrases, and digits of a speaker that training has not heard."""
    folder = tmp_path_factory.mktemp("clips")
    return sample(bundled, speech_dir, folder, {"wakewords": SAMPLE, "fsdd": SAMPLE})


def test_it_is_small_enough_for_a_repository() -> None:
    size = sum(path.stat().st_size for path in bundled_model_dir().iterdir() if path.is_file())
    assert size < MOST_MB * 1e6


def test_it_streams_and_has_whispers_decoder(bundled: LoadedModel) -> None:
    assert bundled.model.config.encoder.streamable
    assert bundled.model.whisper_decoder
    assert bundled.writer


def test_it_says_that_it_knows_english(bundled: LoadedModel) -> None:
    assert bundled.languages == ("en",)


def test_its_language_model_prefers_what_people_say() -> None:
    scorer = load_neural_lm(bundled_model_dir() / NEURAL_LM_FILE)
    said, heard = "what time does the next train leave", "what time duss the necks train leave"
    [[likely, odd]] = scorer.score([[said.split(), heard.split()]])
    assert sum(likely.words) + likely.end > sum(odd.words) + odd.end + 10.0
    [[ordered, scrambled]] = scorer.score([[said.split(), said.split()[::-1]]])
    assert sum(ordered.words) > sum(scrambled.words) + 10.0


def test_its_graph_is_spelled_in_its_phones(bundled: LoadedModel) -> None:
    graph = read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user())
    graph.require_units(bundled.ctc.phone_symbols)


@pytest.mark.parametrize(
    ("word", "sounds"),
    [
        ("blorping", "B L AO R P IH NG"),
        ("snaxify", "S N AE K S AH F AY"),
    ],
)
def test_it_says_words_that_no_dictionary_has(bundled: LoadedModel, word: str, sounds: str) -> None:
    pronouncer = pronouncer_of(bundled)
    assert pronouncer is not None
    assert f"\n{word} " not in read_lexicon_text(bundled_model_dir() / LEXICON_FILE)
    phones = bundled.ctc.phone_symbols
    assert sounds in [
        " ".join(phones[phone] for phone in said) for said in pronouncer.pronounce(word)
    ]


def test_its_card_names_every_corpus() -> None:
    card = (bundled_model_dir() / "CARD.md").read_text(encoding="utf-8")
    for name in (
        "LibriSpeech",
        "LJ Speech",
        "speechocean762",
        "Picovoice",
        "Free Spoken Digit",
        "Whisper",
    ):
        assert name in card
    assert "CC BY-SA 4.0" in card
    assert "OpenAI" in (bundled_model_dir() / "LICENSE.whisper").read_text(encoding="utf-8")


def test_streamed_wake_phrases_and_digits_are_recognised(
    bundled: LoadedModel, short_clips: Speech
) -> None:
    chunk_size = bundled.model.config.decoding.chunk_size
    transcripts = list(transcribe(bundled, short_clips, [chunk_size]))
    rates = rates_by(transcripts, RESCORING, "corpus")
    assert rates[("wakewords",)].wer <= 0.03
    assert rates[("fsdd",)].wer <= 0.05


def book_errors(bundled: LoadedModel, books: Speech) -> float:
    chunk_size = bundled.model.config.decoding.chunk_size
    rates = rates_by(list(transcribe(bundled, books, [chunk_size])), RESCORING, "corpus")
    return rates[("librispeech",)].wer


def test_a_few_sentences_of_books_have_few_errors_without_a_graph(
    bundled: LoadedModel, clips_manifest: Path, tmp_path: Path
) -> None:
    assert book_errors(bundled, recordings(bundled, clips_manifest, tmp_path)) <= MOST_CLIP_ERRORS


def test_read_books_have_few_errors_without_a_graph(
    bundled: LoadedModel, speech_dir: Path, tmp_path: Path
) -> None:
    books = sample(bundled, speech_dir, tmp_path, {"librispeech": 24})
    assert book_errors(bundled, books) <= MOST_BOOK_ERRORS
