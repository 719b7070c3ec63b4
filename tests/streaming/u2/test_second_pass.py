"""The score of the second pass, on a small random model."""

import math
from types import SimpleNamespace

import pytest
import torch

from earshot.decoder_kernels.prefix.prefix_search import PrefixHypothesis
from earshot.models.config import DecoderConfig, DecodingConfig, EncoderConfig, ModelConfig
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.u2.rescoring import attention_scores
from earshot.models.u2.u2 import U2Model
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.results.hypothesis import TokenHypothesis
from earshot.streaming.stream.lane import Ending
from earshot.streaming.stream.segment import Segment
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.pass_weights import PassWeights
from earshot.streaming.u2.second_pass import SecondPass

TOKENIZER = CharTokenizer(
    UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate("_abcdefghijk")), "letters")
)


def random_model(decoder: str) -> U2Model:
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=12,
        encoder=EncoderConfig(
            output_size=16, attention_heads=2, linear_units=32, num_blocks=1, use_dynamic_chunk=True
        ),
        decoder=DecoderConfig(decoder, attention_heads=2, linear_units=32, num_blocks=1),
        decoding=DecodingConfig(ctc_weight=0.3, reverse_weight=0.4),
    )
    return U2Model(config).eval().requires_grad_(False)


def second_pass(model: U2Model) -> SecondPass:
    return SecondPass(
        model, model, TOKENIZER, beam_size=4, weights=PassWeights.of(model.config.decoding)
    )


def hypothesis(tokens, score) -> TokenHypothesis:
    size = len(tokens)
    found = PrefixHypothesis(
        tuple(tokens), tuple(range(size)), score, score - 2.0, 2.0, (-0.5,) * size
    )
    return TokenHypothesis(found, TOKENIZER, NO_BOOSTS)


def ending(hypotheses, frames=9, **options) -> Ending:
    torch.manual_seed(frames)
    segment = Segment(0, detector=None)
    segment.extend(torch.randn(frames, 16))
    stream = SimpleNamespace(config=StreamConfig(**options), segment=segment)
    return Ending(stream, "endpoint", 0, hypotheses)


NBEST = [hypothesis([3, 4, 5], -1.0), hypothesis([3, 4], -1.5), hypothesis([], -9.0)]


@pytest.mark.parametrize(
    ("options", "ctc", "reverse"),
    [({}, 0.3, 0.4), ({"weights": {"ctc": 2.0, "reverse": 0.0}}, 2.0, 0.0)],
)
def test_the_score_is_u2s_with_the_boost_in_it(options, ctc, reverse):
    model, segment = random_model("bitransformer"), ending(NBEST, **options)
    second_pass(model)([segment])
    memory, lengths = segment.stream.segment.memory()[None], torch.tensor([9])
    for scored in segment.scored:
        tokens = scored.hypothesis.tokens
        told = attention_scores(model, memory, lengths, [tokens], [0])
        attention = (1 - reverse) * told.left[0] + reverse * told.right[0]
        assert scored.score == pytest.approx(attention + ctc * scored.hypothesis.score, abs=1e-4)
        left, right = told.left_token_log_probs[0], told.right_token_log_probs[0]
        wanted = [
            (1 - reverse) * math.exp(a) + reverse * math.exp(b)
            for a, b in zip(left, right, strict=True)
        ]
        assert scored.token_confidences == pytest.approx(wanted, abs=1e-5)
    assert [s.score for s in segment.scored] == sorted(s.score for s in segment.scored)[::-1]


def test_segments_in_one_batch_do_not_touch_each_other():
    model = random_model("bitransformer")
    alone, together = [
        [ending(NBEST, 9), ending(NBEST[:2], 5), ending(NBEST[:1], 12)] for _ in range(2)
    ]
    rescore = second_pass(model)
    for segment in alone:
        rescore([segment])
    rescore(together)
    for one, other in zip(alone, together, strict=True):
        assert [s.hypothesis for s in one.scored] == [s.hypothesis for s in other.scored]
        scores = [s.score for s in other.scored]
        assert [s.score for s in one.scored] == pytest.approx(scores, abs=1e-4)


def test_a_model_without_a_right_decoder_is_not_asked_for_one():
    model, segment = random_model("transformer"), ending(NBEST, weights={"reverse": 0.9})
    second_pass(model)([segment])
    memory, lengths = segment.stream.segment.memory()[None], torch.tensor([9])
    best = segment.scored[0]
    [left] = attention_scores(model, memory, lengths, [best.hypothesis.tokens], [0]).left
    assert best.score == pytest.approx(left + 0.3 * best.hypothesis.score, abs=1e-4)


@pytest.mark.parametrize("mode", ["ctc_prefix_beam_search", "ctc_greedy_search"])
def test_ctc_modes_keep_the_first_pass(mode):
    segment = ending(NBEST, mode=mode)
    second_pass(random_model("transformer"))([segment])
    assert [scored.hypothesis for scored in segment.scored] == NBEST
    assert segment.scored[0].token_confidences == pytest.approx([math.exp(-0.5)] * 3)


@pytest.mark.parametrize("mode", ["attention", "attention_rescoring"])
def test_no_words_are_imagined_where_the_first_pass_heard_none(mode):
    silent = ending([hypothesis([], -0.1), hypothesis([3], -5.0)], mode=mode)
    second_pass(random_model("bitransformer"))([silent])
    assert silent.scored[0].hypothesis.tokens == ()


def test_attention_mode_places_its_own_hypotheses():
    segment = ending(NBEST, mode="attention")
    second_pass(random_model("bitransformer"))([segment])
    for scored in segment.scored:
        assert len(scored.hypothesis.frames) == len(scored.hypothesis.tokens)
        assert list(scored.hypothesis.frames) == sorted(scored.hypothesis.frames)
        assert all(0 <= frame < 9 for frame in scored.hypothesis.frames)


def test_the_decoders_own_search_says_that_it_goes_on():
    beats = {}
    for mode in ("attention_rescoring", "attention"):
        told = []
        second_pass(random_model("transformer"))(
            [ending(NBEST, mode=mode)], lambda t=told: t.append(1)
        )
        beats[mode] = len(told)
    assert beats["attention"] > beats["attention_rescoring"] + 2
