"""Make ``whisper``: random Whispers as other programs write them, and what these compute.

``python make_whisper.py`` with an environment that has openai-whisper, transformers and
ctranslate2. They are no dependencies of ours; README.md says which versions made what lies here.
"""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import ctranslate2
import numpy as np
import torch
from ctranslate2.converters import TransformersConverter
from tiktoken import Encoding
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers, trainers
from tokenizers.models import BPE
from transformers import WhisperConfig, WhisperForConditionalGeneration, WhisperTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode
from whisper.model import ModelDimensions, Whisper
from whisper.tokenizer import Tokenizer as OpenaiTokenizer
from whisper.tokenizer import get_encoding

HERE = Path(__file__).resolve().parent / "whisper"
TEXT = (
    "the cat sat on the mat. Then the other cat, a fat one, sat on that mat and on the rat. "
    "It is not so that they all sit on mats: some of them would rather stand, and others run."
)
WORD_PIECES = 300
SPECIAL = (
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>",
    "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
)  # fmt: skip
TIMESTAMPS = 25
SAID = (
    " The cat, a fat one, sat there.", "They're on the mat!", "  two  spaces\n\tand a tab ",
    " Größe 日本語 ½ 3:30 😀", "<|endoftext|> is text", " (laughs) [that] -- ♪ the rat's",
)  # fmt: skip
SIZES = ModelDimensions(
    n_mels=10, n_audio_ctx=24, n_audio_state=16, n_audio_head=2, n_audio_layer=2,
    n_vocab=WORD_PIECES + len(SPECIAL) + TIMESTAMPS,
    n_text_ctx=12, n_text_state=16, n_text_head=4, n_text_layer=2,
)  # fmt: skip
"""Heads of 8 and of 4 channels: no reader may take them for heads of 64."""
QUANTIZATIONS = ("float32", "float16", "bfloat16", "int8")


def make_tokenizer() -> Tokenizer:
    """Byte-level BPE with Whisper's special tokens; timestamps, as in theirs, have no entry."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=WORD_PIECES,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    assert tokenizer.get_vocab_size() == WORD_PIECES
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
    return tokenizer


def randomize(model: torch.nn.Module) -> None:
    """Weights that all matter, as half precision has them: no zeros, no ones."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            near = 1.0 if "norm" in name or "ln" in name else 0.0
            weight.normal_(near if name.endswith("weight") else 0.0, 0.3)
            weight.copy_(weight.half())


def make_openai(folder: Path, mel: torch.Tensor, tokens: torch.Tensor) -> dict[str, torch.Tensor]:
    model = Whisper(SIZES).eval()
    randomize(model)
    state = {name: weight.half() for name, weight in model.state_dict().items()}
    torch.save({"dims": asdict(SIZES), "model_state_dict": state}, folder / "openai.pt")
    model.load_state_dict(state)  # the sinusoids in half precision too
    encoded = model.encoder(mel)
    return {"openai_encoder": encoded, "openai_logits": model.decoder(tokens, encoded)}


def make_hugging_face(
    folder: Path, tokenizer: Tokenizer, mel: torch.Tensor, tokens: torch.Tensor
) -> dict[str, torch.Tensor]:
    model = WhisperForConditionalGeneration(hugging_face_config()).eval()
    randomize(model)
    encoded = model.model.encoder(mel).last_hidden_state
    logits = model(mel, decoder_input_ids=tokens).logits
    model.half()
    model.save_pretrained(folder / "hugging_face")
    model.save_pretrained(folder / "sharded", max_shard_size="15KB")
    save_tokenizer(tokenizer, folder / "hugging_face")
    return {"hugging_face_encoder": encoded, "hugging_face_logits": logits}


def hugging_face_config() -> WhisperConfig:
    return WhisperConfig(
        num_mel_bins=SIZES.n_mels,
        max_source_positions=SIZES.n_audio_ctx,
        d_model=SIZES.n_audio_state,
        encoder_attention_heads=SIZES.n_audio_head,
        encoder_layers=SIZES.n_audio_layer,
        encoder_ffn_dim=4 * SIZES.n_audio_state,
        vocab_size=SIZES.n_vocab,
        max_target_positions=SIZES.n_text_ctx,
        decoder_attention_heads=SIZES.n_text_head,
        decoder_layers=SIZES.n_text_layer,
        decoder_ffn_dim=4 * SIZES.n_text_state,
        pad_token_id=WORD_PIECES,
        bos_token_id=WORD_PIECES,
        eos_token_id=WORD_PIECES,
        decoder_start_token_id=WORD_PIECES + 1,
    )


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Both of transformers' forms: tokenizer.json, and its parts of older releases."""
    WhisperTokenizerFast(
        tokenizer_object=tokenizer, unk_token=SPECIAL[0], bos_token=SPECIAL[0], eos_token=SPECIAL[0]
    ).save_pretrained(folder)
    tokenizer.model.save(str(folder))


def make_ctranslate2(folder: Path, quantization: str, mel: torch.Tensor) -> dict[str, torch.Tensor]:
    """Converted weights; the encoder's output and the logits of four greedy tokens."""
    target = folder / f"ctranslate2_{quantization}"
    converter = TransformersConverter(str(folder / "hugging_face"))
    converter.convert(str(target), quantization=quantization)
    model = ctranslate2.models.Whisper(str(target), device="cpu", compute_type="float32")
    features = ctranslate2.StorageView.from_array(mel.numpy())
    prompt = [WORD_PIECES + SPECIAL.index(name) for name in ("<|startoftranscript|>", "<|en|>")]
    prompt += [WORD_PIECES + SPECIAL.index("<|transcribe|>"), WORD_PIECES + len(SPECIAL) - 1]
    (result,) = model.generate(
        features, [prompt], beam_size=1, max_length=8, return_logits_vocab=True,
        suppress_blank=False, suppress_tokens=[],
    )  # fmt: skip
    prefix = f"ctranslate2_{quantization}"
    return {
        f"{prefix}_encoder": torch.from_numpy(np.array(model.encode(features))),
        f"{prefix}_tokens": torch.tensor([prompt + result.sequences_ids[0]]),
        f"{prefix}_logits": torch.tensor(np.array(result.logits[0])),
    }


def tokenize(folder: Path, tokenizer: Tokenizer) -> None:
    """OpenAI's code on the same vocabulary, which it takes as bytes by rank."""
    vocabulary = tokenizer.get_vocab(with_added_tokens=False)
    letters = {letter: byte for byte, letter in bytes_to_unicode().items()}
    ranks = {bytes(letters[letter] for letter in text): rank for text, rank in vocabulary.items()}
    special = {name: WORD_PIECES + place for place, name in enumerate((*SPECIAL, "<|0.00|>"))}
    pattern = get_encoding("gpt2")._pat_str
    encoding = Encoding("tiny", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    theirs = OpenaiTokenizer(encoding, num_languages=1)
    tokens = {text: theirs.encode(text, disallowed_special=()) for text in SAID}
    content = {
        "tokens": tokens,
        "decoded": theirs.decode(list(range(WORD_PIECES))),
        "non_speech": theirs.non_speech_tokens,
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / "tokens.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    torch.manual_seed(5)
    mel = torch.randn(1, SIZES.n_mels, 2 * SIZES.n_audio_ctx)
    tokens = torch.tensor([[301, 302, 305, 309, 40, 270, 7, 66]])
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    arrays = {"mel": mel, "tokens": tokens}
    with torch.no_grad():
        arrays |= make_openai(HERE, mel, tokens)
        arrays |= make_hugging_face(HERE, make_tokenizer(), mel, tokens)
    tokenize(HERE, make_tokenizer())
    for quantization in QUANTIZATIONS:
        arrays |= make_ctranslate2(HERE, quantization, mel)
    np.savez_compressed(HERE / "golden.npz", **{name: a.numpy() for name, a in arrays.items()})


if __name__ == "__main__":
    main()
