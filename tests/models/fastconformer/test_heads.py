"""The CTC head and the language prompt of a NeMo model."""

import pytest
import torch
from nemo_golden import CTC, GoldenReader, NemoGolden

from earshot.models.fastconformer.config import PromptConfig
from earshot.models.fastconformer.heads import CtcHead, Prompt

TOLERANCE = 1e-4


@pytest.fixture(params=CTC)
def golden(request: pytest.FixtureRequest, nemo_golden: GoldenReader) -> NemoGolden:
    return nemo_golden(request.param)


def test_the_ctc_head_puts_out_what_nemos_does(golden: NemoGolden) -> None:
    found = golden.model.ctc(golden.arrays["encoded"].transpose(1, 2))
    wanted = golden.arrays["ctc_log_probs"]
    torch.testing.assert_close(found, wanted, atol=TOLERANCE, rtol=0)


def test_greedy_ctc_finds_what_nemo_does(golden: NemoGolden) -> None:
    wanted = [clip["tokens"] for clip in golden.decoded["ctc_greedy"]]
    assert [greedy(golden, row) for row in golden.rows("encoded")] == wanted


def greedy(golden: NemoGolden, encoded: torch.Tensor) -> list[int]:
    best = golden.model.ctc(encoded).argmax(-1).unique_consecutive().tolist()
    return [unit for unit in best if unit != golden.model.config.vocab_size]


def test_ctc_outputs_are_log_probabilities() -> None:
    found = CtcHead(4, 6)(torch.randn(2, 3, 4))
    torch.testing.assert_close(found.exp().sum(-1), torch.ones(2, 3))


def test_a_prompt_is_a_one_hot_beside_each_frame() -> None:
    prompt = Prompt(4, PromptConfig(size=3, hidden_size=5))
    encoded = torch.randn(2, 6, 4)
    beside = torch.tensor([[0.0, 0, 1], [1, 0, 0]]).unsqueeze(1).expand(-1, 6, -1)
    expected = prompt(torch.cat((encoded, beside), -1))
    torch.testing.assert_close(prompt.tell(encoded, torch.tensor([2, 0])), expected)


def test_rows_hear_their_own_language() -> None:
    torch.manual_seed(1)
    prompt = Prompt(4, PromptConfig(size=3, hidden_size=16))
    encoded = torch.randn(1, 6, 4).expand(2, -1, -1)
    first, second = prompt.tell(encoded, torch.tensor([0, 1]))
    assert not torch.allclose(first, second)
