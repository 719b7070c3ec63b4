"""Claim: a folder of transformers gives here what it gives there, within 1e-3, at real sizes.

Run with ``PYTHONPATH=tests/decoder_kernels/transducer:.``, where the plain decoder lies. Models of
transformers with random weights, of the widths, units and heads of the published ones and fewer
layers, are saved, read with `load_model`, and run on the same two signals of different lengths in
one batch. Exit code 1 where a difference is larger, or greedy tokens or text differ.

Needs `pip install -e .[bench]` (transformers 5), 3 GB of memory, and ten minutes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import transformers
from network_head import NetworkHead
from oracles import frame_looping
from torch import Tensor, nn

from benchmarks.report import table, write_report
from benchmarks.transducer.random_models import Case, make_folder
from benchmarks.transducer.signals import RATE_HZ, SECONDS, make_signals
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.fastconformer.normalise import normalise_per_feature

MOST = 1e-3
NARROW, WIDE, SHORT, LONG = (512, 4), (1024, 3), 1025, 13_088
CASES = [
    *(Case(head, *size, outputs) for head in ("CTC", "RNN-T", "TDT")
      for size in (NARROW, WIDE) for outputs in (SHORT, LONG)),
    *(Case("streaming", *size, SHORT, 128, 70, (13, 6, 1, 0)) for size in (NARROW, WIDE)),
    *(Case("prompt", *size, LONG, 128, 56, (13, 6, 3, 1, 0)) for size in (NARROW, WIDE)),
]  # fmt: skip
SAID = (5, 17, 900)
"""Labels that the joint is asked about."""
LANGUAGES = ("en-US", "auto")
"""One for each signal."""
UNBOUNDED = 1000


@dataclass(frozen=True)
class Row:
    """Largest differences of one context, and whether greedy tokens and their text are equal.

    streamed: of their own encoder chunk by chunk, from their own whole utterance.
    """

    name: str
    features: float
    encoder: float
    logits: float
    tokens: int
    equal: bool
    streamed: float | None = None

    @property
    def good(self) -> bool:
        """Whether all is as claimed."""
        return self.equal and max(self.features, self.encoder, self.logits) <= MOST

    def cells(self) -> list[str]:
        """Of the table."""
        numbers = [f"{value:.1e}" for value in (self.features, self.encoder, self.logits)]
        streamed = "" if self.streamed is None else f"{self.streamed:.1e}"
        return [self.name, *numbers, f"{self.tokens}", "yes" if self.equal else "NO", streamed]


class Comparison:
    """One model in both."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.theirs: Any = make_folder(case, folder)
        self.processor = transformers.AutoProcessor.from_pretrained(folder)
        self.loaded: LoadedModel = load_model(folder)
        assert isinstance(self.loaded.model, FastConformerModel)
        self.ours: FastConformerModel = self.loaded.model

    def row(self, right: int | None) -> Row:
        """One context; None for full attention."""
        inputs, kwargs = self._inputs(right)
        lengths = inputs["attention_mask"].sum(-1)
        features, features_off = self._features(inputs["input_features"], lengths)
        context = None if right is None else AttentionContext(self.case.left, right)
        told = {"languages": self._languages()} if self.case.head == "prompt" else {}
        heard, counts = self.ours.encode(features, lengths, context, **told)
        bare, _ = self.ours.encoder(features, lengths, context)
        expected = self.theirs.encoder(**inputs, **_without(kwargs, "prompt_ids"))
        encoder_off = _difference(bare, expected.last_hidden_state, counts)
        logits_off = _difference(self._scores(heard), self._their_scores(inputs, kwargs), counts)
        pairs = list(
            zip(
                self._tokens(heard, counts), self._their_tokens(inputs, kwargs, counts), strict=True
            )
        )
        return Row(
            self.case.name + ("" if right is None else f", [{self.case.left}, {right}]"),
            features_off,
            encoder_off,
            logits_off,
            sum(len(ours) for ours, _ in pairs),
            all(self._equal(ours, theirs) for ours, theirs in pairs),
            None if right is None else self._streamed(inputs["input_features"], lengths, right),
        )

    def _inputs(self, right: int | None) -> tuple[dict[str, Tensor], dict[str, Any]]:
        told = {"language": list(LANGUAGES)} if self.case.head == "prompt" else {}
        signals = [signal.numpy() for signal in make_signals()]
        found = self.processor(signals, sampling_rate=RATE_HZ, **told)
        inputs = {name: found[name] for name in ("input_features", "attention_mask")}
        kwargs: dict[str, Any] = {} if right is None else {"num_lookahead_tokens": right}
        return inputs, kwargs | ({"prompt_ids": found["prompt_ids"]} if told else {})

    def _features(self, theirs: Tensor, lengths: Tensor) -> tuple[Tensor, float]:
        """Ours, and the difference; theirs are normalised, which is the encoder's part here."""
        signals = make_signals()
        samples = nn.utils.rnn.pad_sequence(signals, batch_first=True)
        sizes = torch.tensor([len(signal) for signal in signals])
        features = self.ours.features(samples, sizes)
        assert lengths.tolist() == [self.ours.features.frame_count(len(s)) for s in signals]
        shown = features
        if self.ours.config.encoder.normalise == "per_feature":
            shown = normalise_per_feature(features, lengths)
        return features, _difference(shown, theirs, lengths)

    def _languages(self) -> Tensor:
        assert self.ours.config.prompt is not None
        return torch.tensor([self.ours.config.prompt.languages[name] for name in LANGUAGES])

    def _scores(self, heard: Tensor) -> Tensor:
        """Of each frame: CTC's logits, or the joint's after no label and after each of SAID."""
        if self.ours.ctc is not None:
            return self.ours.ctc.output(heard)
        network = self.ours.transducer
        assert network is not None
        state, said = network.predictor.start(1), []
        for label in (network.config.blank_id, *SAID):
            projected, state = network.say(torch.tensor([label]), state)
            said.append(projected[0])
        return network.joint(network.hear(heard).unsqueeze(2), torch.stack(said))

    def _their_scores(self, inputs: dict[str, Tensor], kwargs: dict[str, Any]) -> Tensor:
        if self.case.head == "CTC":
            return self.theirs(**inputs).logits
        labels = torch.tensor([[self.case.outputs - 1, *SAID]] * len(SECONDS))
        return self.theirs(**inputs, **kwargs, decoder_input_ids=labels).logits

    def _tokens(self, heard: Tensor, counts: Tensor) -> Iterator[list[int]]:
        rows = [frames[:count] for frames, count in zip(heard, counts.tolist(), strict=True)]
        for frames in rows:
            if self.ours.ctc is not None:
                yield self.ours.ctc(frames).argmax(-1).tolist()
            elif (network := self.ours.transducer) is not None:
                # transformers counts the symbols of a frame for RNN-T alone.
                bound = UNBOUNDED if network.config.durations else network.config.max_symbols
                found, _ = frame_looping(NetworkHead(network), network.hear(frames), bound)
                yield found.tokens

    def _their_tokens(
        self, inputs: dict[str, Tensor], kwargs: dict[str, Any], counts: Tensor
    ) -> Iterator[list[int]]:
        """Labels that begin within each row; of CTC, the best unit of each frame."""
        if self.case.head == "CTC":
            best = self.theirs.generate(**inputs)
            yield from (row[:n].tolist() for row, n in zip(best, counts.tolist(), strict=True))
            return
        blank = self.case.outputs - 1
        found = self.theirs.generate(**inputs, **kwargs, decoder_start_token_id=blank)
        starts = found.durations.cumsum(-1) - found.durations
        for tokens, frames, count in zip(found.sequences, starts, counts.tolist(), strict=True):
            pairs = zip(tokens[1:].tolist(), frames[1:].tolist(), strict=True)
            yield [token for token, frame in pairs if token != blank and frame < count]

    def _equal(self, ours: list[int], theirs: list[int]) -> bool:
        """Whether tokens are the same, and the text of all but blanks."""
        labels = [token for token in theirs if token < self.case.outputs - 1]
        text = self.processor.tokenizer.decode(labels, skip_special_tokens=True, group_tokens=False)
        return ours == theirs and self.loaded.tokenizer.decode(labels) == text.strip()

    def _streamed(self, features: Tensor, lengths: Tensor, right: int) -> float:
        """Of their encoder by chunks with its caches, from their own whole first signal."""
        whole = features[:1, : int(lengths[0])]
        chunk, first = 8 * (right + 1), 1 + 8 * right
        bounds = [0, *range(first, whole.size(1), chunk)]
        caches: dict[str, Any] = {}
        found = []
        for start, stop in pairwise(bounds):  # not the last frames, which fill no chunk
            out = self.theirs.encoder(
                whole[:, start:stop], use_cache=True, num_lookahead_tokens=right, **caches
            )
            caches = {"cache": out.cache, "padding_cache": out.padding_cache}
            found.append(out.last_hidden_state)
        joined = torch.cat(found, dim=1)
        expected = self.theirs.encoder(whole, num_lookahead_tokens=right).last_hidden_state
        return float((joined - expected[:, : joined.size(1)]).abs().max())


def _without(kwargs: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in kwargs.items() if key != name}


def _difference(ours: Tensor, theirs: Tensor, lengths: Tensor) -> float:
    """The largest among rows (B, T, …), within `lengths` (B,)."""
    rows = zip(ours, theirs, lengths.tolist(), strict=True)
    return max(float((a[:n] - b[:n]).abs().max()) for a, b, n in rows)


def compare(case: Case) -> Iterator[Row]:
    """Rows of one model, each of its contexts."""
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        both = Comparison(case, Path(folder))
        for right in case.rights or (None,):
            yield both.row(right)


def main() -> int:
    """Compares, prints and writes the page."""
    torch.set_num_threads(1)  # a decoder's steps are too small to share
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    rows = []
    for case in CASES:
        for row in compare(case):
            print(" | ".join(row.cells()), flush=True)
            rows.append(row)
    header = ["model", "features", "encoder", "logits", "tokens", "equal", "their own chunks"]
    body = table(header, [row.cells() for row in rows])
    bad = [row.name for row in rows if not row.good]
    write_report(
        "against_transformers",
        "Folders of transformers, here and there",
        f"transformers {transformers.__version__}, random weights, float32, two signals of "
        f"{SECONDS[0]} and {SECONDS[1]} s in one batch; largest absolute differences, of which "
        f"{MOST:g} is the most allowed; {len(bad)} of {len(rows)} exceed it or differ in tokens "
        f"or text.\n\n{body}\n",
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
