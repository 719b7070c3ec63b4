"""A tiny network, and a tokenizer made of a few sentences."""

import io

import pytest
import sentencepiece
import torch

from earshot.models.neural_lm.network import NeuralLm, NeuralLmConfig, initialise

SENTENCES = [
    "the cat sat on the mat",
    "the dog saw the cat",
    "a dog and a cat and a mat",
    "i can't see the dog's mat",
    "on and on sat the cat",
]
TINY = NeuralLmConfig(vocab_size=24, size=8, heads=2, blocks=2, feed_forward=16, context=24)


@pytest.fixture(scope="session")
def tokenizer_bytes() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 5),
        model_writer=model,
        vocab_size=TINY.vocab_size,
        hard_vocab_limit=True,
        unk_id=0,
        eos_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=2,
    )
    return model.getvalue()


@pytest.fixture
def tokenizer(tokenizer_bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=tokenizer_bytes)


@pytest.fixture
def network() -> NeuralLm:
    torch.manual_seed(5)
    network = NeuralLm(TINY)
    initialise(network)
    for parameter in network.parameters():  # far from uniform, so that errors show
        parameter.data += 0.3 * torch.randn_like(parameter)
    return network.eval()
