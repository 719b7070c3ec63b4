"""Growing texts as plainly as can be: the decoder hears the whole text before every node again."""

import torch
from torch import Tensor

from earshot.models.whisper_decoder.filled_memory import filled
from earshot.models.whisper_decoder.growing_texts import GrowingText, Question, begun
from earshot.models.whisper_decoder.network import WhisperDecoder


class PlainTexts:
    """A `TextScorer`, and what it listens to."""

    def __init__(
        self, decoder: WhisperDecoder, kept: list[int], best: int, silence: Tensor | None = None
    ) -> None:
        self.decoder, self.kept, self.best, self.silence = decoder, kept, best, silence

    def listen(self, memory: Tensor, lengths: Tensor) -> "PlainTexts":
        if self.silence is not None:
            memory, lengths = filled(memory, lengths, self.silence)
        self.memory, self.lengths = memory, lengths
        self.texts = begun(self.decoder.config.prompt, len(memory))
        return self

    def score(self) -> None:
        for number, text in enumerate(self.texts):
            for node in range(text.scored, len(text)):
                shares = self.shares(number, text, node)
                scores, tokens = shares.topk(self.best)
                text.likely.append(list(zip(tokens.tolist(), scores.tolist(), strict=True)))

    def answer(self, questions: list[Question]) -> list[float]:
        return [float(self.shares(q.text, self.texts[q.text], q.node)[q.token]) for q in questions]

    def shares(self, number: int, text: GrowingText, node: int) -> Tensor:
        """(V,): log-probabilities of what follows a node, among the tokens that are kept."""
        tokens = torch.tensor([[text.tokens[each] for each in text.path(node)]])
        own = slice(number, number + 1)
        logits = self.decoder(self.memory[own], self.lengths[own], tokens)[0, -1]
        left_out = torch.ones(len(logits), dtype=torch.bool)
        left_out[self.kept] = False
        return logits.masked_fill(left_out, -torch.inf).log_softmax(-1)
