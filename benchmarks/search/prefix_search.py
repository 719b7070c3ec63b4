"""Time prefix search against flashlight-text, torchaudio's decoder, on the same posteriors.

``python -m benchmarks.search.prefix_search`` gives microseconds per frame and lane on this
machine's devices, and the ratio to the peer in the same run. The peer (``pip install
flashlight-text``) is a C++ lexicon-free beam search on one CPU thread with the same beam, token
beam and summing of paths.
"""

import argparse
import importlib
import time
from collections.abc import Callable
from types import ModuleType

import torch
from torch import Tensor

from benchmarks.report import table, write_report
from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import native_half
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig

BEAM_SIZE = 10
TOKEN_BEAM = 10
CHUNK_FRAMES = 16

Decoded = list[tuple[int, ...]]


def speechlike(lanes: int, frames: int, vocab_size: int) -> Tensor:
    """Posteriors ``(B, T, V)`` as CTC gives them: blank mostly, a spike about every fifth frame."""
    generator = torch.Generator().manual_seed(1)
    logits = 1.5 * torch.randn(lanes, frames, vocab_size, generator=generator)
    logits[:, :, 0] += 12.0
    spikes = torch.rand(lanes, frames, generator=generator) < 0.2
    tokens = torch.randint(1, vocab_size, (lanes, frames), generator=generator)
    logits.scatter_add_(2, tokens[:, :, None], spikes[:, :, None] * 14.0)
    return torch.log_softmax(logits, dim=-1)


def ours(log_probs: Tensor, device: str, workers: int) -> Callable[[], Decoded]:
    """Our search on a device, chunk by chunk as it serves."""
    lanes, _, vocab_size = log_probs.shape
    config = PrefixSearchConfig(beam_size=BEAM_SIZE, token_beam=TOKEN_BEAM, workers=workers)
    search = PrefixSearch(config, lanes, vocab_size, device)
    slots = torch.arange(lanes)
    chunks = [chunk.contiguous() for chunk in log_probs.to(device).split(CHUNK_FRAMES, dim=1)]

    def decode() -> Decoded:
        search.reset(slots)
        for chunk in chunks:
            search.advance(slots, chunk, torch.full((lanes,), chunk.shape[1]))
        return [result.hypothesis.tokens for result in search.best(slots)]

    return decode


def flashlight(log_probs: Tensor, decoder_module: ModuleType) -> Callable[[], Decoded]:
    """The peer, lane by lane."""
    lanes, frames, vocab_size = log_probs.shape
    options = decoder_module.LexiconFreeDecoderOptions(
        beam_size=BEAM_SIZE,
        beam_size_token=TOKEN_BEAM,
        beam_threshold=1e9,
        lm_weight=0.0,
        sil_score=0.0,
        log_add=True,
        criterion_type=decoder_module.CriterionType.CTC,
    )
    # The silence that it puts at both ends is a token of its own, one past ours.
    decoder = decoder_module.LexiconFreeDecoder(options, decoder_module.ZeroLM(), vocab_size, 0, [])
    rows = log_probs.contiguous()

    def decode() -> Decoded:
        found = [decoder.decode(rows[i].data_ptr(), frames, vocab_size)[0] for i in range(lanes)]
        return [collapsed(result.tokens, vocab_size) for result in found]

    return decode


def collapsed(alignment: list[int], silence: int) -> tuple[int, ...]:
    """Tokens of a CTC alignment without the peer's silence at both ends."""
    pairs = zip([0, *alignment], alignment, strict=False)
    return tuple(token for before, token in pairs if 0 < token < silence and token != before)


def seconds(decode: Callable[[], Decoded], repeats: int) -> float:
    """The fastest of some runs, after one to warm up."""
    decode()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        decode()
        times.append(time.perf_counter() - start)
    return min(times)


def candidates(log_probs: Tensor) -> dict[str, Callable[[], Decoded]]:
    """Every decoder that can run here, the peer first."""
    found: dict[str, Callable[[], Decoded]] = {}
    try:
        peer = importlib.import_module("flashlight.lib.text.decoder")
        found["flashlight-text, 1 thread"] = flashlight(log_probs, peer)
    except ModuleNotFoundError:
        print("the peer is not installed (pip install flashlight-text): no ratios")
    found["ours, cpu, 1 worker"] = ours(log_probs, "cpu", workers=1)
    found["ours, cpu, 2 workers"] = ours(log_probs, "cpu", workers=2)
    if torch.cuda.is_available():
        try:
            native_half(torch.device("cuda"))
            found["ours, cuda"] = ours(log_probs, "cuda", workers=1)
        except BackendMissing as error:
            print(f"no CUDA timing: {error}")
    else:
        print("no CUDA device here: no CUDA timing")
    return found


def compare(lanes: int, frames: int, vocab_size: int, repeats: int) -> list[list[str]]:
    """Time all decoders on the same posteriors, a row each."""
    decoders = candidates(speechlike(lanes, frames, vocab_size))
    results = {name: decode() for name, decode in decoders.items()}
    times = {name: seconds(decode, repeats) for name, decode in decoders.items()}
    baseline, reference = next(iter(times.values())), results["ours, cpu, 1 worker"]
    rows = []
    for name, spent in times.items():
        equal = sum(a == b for a, b in zip(results[name], reference, strict=True))
        per_frame = spent / (lanes * frames) * 1e6
        rows.append(
            [str(vocab_size), name, f"{per_frame:.2f}", f"{baseline / spent:.2f}",
             f"{equal} of {lanes}"]
        )  # fmt: skip
        print("  ".join(rows[-1]))
    return rows


def main() -> None:
    """Compare small and large vocabularies and write docs/benchmarks/prefix_search.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lanes", type=int, default=16)
    parser.add_argument("--frames", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    sizes = (100, 500, 5000)
    rows = [
        row
        for vocab_size in sizes
        for row in compare(options.lanes, options.frames, vocab_size, options.repeats)
    ]
    header = ["vocabulary", "decoder", "us per frame and lane", "times as fast", "same best text"]
    body = f"""
{options.lanes} lanes of {options.frames} frames of made posteriors that look like CTC's, given in
chunks of {CHUNK_FRAMES}; beam {BEAM_SIZE}; {device_name()}. The fastest of {options.repeats} runs.
"Times as fast" is against the first decoder of the same vocabulary, "same best text" against ours
on one worker. Beams of equal size do not prune equally, so texts may differ.

{table(header, rows)}
"""
    print(
        write_report("prefix_search", "Prefix beam search against flashlight-text", body.lstrip())
    )


def device_name() -> str:
    """The GPU, if there is one."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"


if __name__ == "__main__":
    main()
