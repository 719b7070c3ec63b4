"""Claim: the same checkpoint, the same text, less work than WeNet's own Python code.

Needs a checkout of WeNet (`--wenet DIR`; commit 01546996 was used) and its golden model directory.
WeNet decodes one stream after the other, chunk by chunk, and searches once at the end. Earshot
decodes them together and gives partial results on the way. Both rescore, on one thread, and both
get their features from Earshot's fbank, because WeNet's needs torchaudio. WeNet's C++ runtime is
faster than its Python code and is not measured here.
"""

import argparse
import contextlib
import statistics
import sys
import time
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import soundfile
import torch
import yaml

from benchmarks.report import SHARED, table, write_report
from benchmarks.server.batching import run_all
from benchmarks.server.spoken_hour import RATE_HZ, Samples
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.config import FeatureConfig
from earshot.models.features.kaldi_fbank import Fbank
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

GOLDEN = SHARED / "golden" / "wenet"
MODEL = GOLDEN / "u2pp_conformer"
CHUNK_SIZE = 16
BEAM = 10
CTC_WEIGHT = 0.5
REVERSE_WEIGHT = 0.3
ASK = StreamConfig(
    interim_results=True,
    endpoint=EndpointConfig(silence_ms=None),
    ctc_weight=CTC_WEIGHT,
    reverse_weight=REVERSE_WEIGHT,
)


def wenet_model(checkout: Path, model_dir: Path) -> Any:
    """Build WeNet's own U2++ model from its own classes and load the checkpoint."""
    package = types.ModuleType("wenet")  # its __init__ imports the whole command line
    package.__path__ = [str(checkout / "wenet")]
    sys.modules["wenet"] = package
    # Imported for what this model does not use.
    for name in ("torchaudio", "torchaudio.functional", "whisper", "whisper.tokenizer"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["whisper.tokenizer"].LANGUAGES = {}  # type: ignore[attr-defined]
    # WeNet imports these two from torch, which no longer has them there.
    torch.nn.modules.conv.Union = typing.Union  # type: ignore[attr-defined]
    torch.nn.modules.conv.Optional = typing.Optional  # type: ignore[attr-defined]
    from wenet.models.transformer.asr_model import ASRModel
    from wenet.models.transformer.cmvn import GlobalCMVN
    from wenet.models.transformer.ctc import CTC
    from wenet.models.transformer.decoder import BiTransformerDecoder
    from wenet.models.transformer.encoder import ConformerEncoder

    config = yaml.safe_load((model_dir / "train.yaml").read_text())
    vocabulary, width = config["output_dim"], config["encoder_conf"]["output_size"]
    cmvn = GlobalCMVN(torch.zeros(config["input_dim"]), torch.ones(config["input_dim"]))
    model = ASRModel(
        vocabulary,
        ConformerEncoder(config["input_dim"], global_cmvn=cmvn, **config["encoder_conf"]),
        BiTransformerDecoder(vocabulary, width, **config["decoder_conf"]),
        CTC(vocabulary, width),
        special_tokens=config["tokenizer_conf"]["special_tokens"],
        **config["model_conf"],
    )
    state = torch.load(model_dir / "final.pt", map_location="cpu", weights_only=True)
    missing = model.load_state_dict(state, strict=False)
    assert not missing.unexpected_keys
    assert all(key.endswith(".pe") for key in missing.missing_keys)
    return model.eval()


def decode_with_wenet(model: Any, audio: list[Samples]) -> list[list[int]]:
    """One stream after the other, as WeNet's Python code serves them; return token ids."""
    fbank, best = Fbank(FeatureConfig()), []
    for samples in audio:
        feats = fbank(torch.from_numpy(samples * 32768.0)).unsqueeze(0)
        results = model.decode(
            ["attention_rescoring"], feats, torch.tensor([feats.size(1)]), beam_size=BEAM,
            decoding_chunk_size=CHUNK_SIZE, num_decoding_left_chunks=-1, simulate_streaming=True,
            ctc_weight=CTC_WEIGHT, reverse_weight=REVERSE_WEIGHT,
        )  # fmt: skip
        best.append(list(results["attention_rescoring"][0].tokens))
    return best


@contextlib.contextmanager
def earshot(streams: int) -> Iterator[Engine]:
    """An engine that takes all streams in one step."""
    config = EngineConfig(
        max_streams=streams, chunk_size=CHUNK_SIZE, num_left_chunks=-1, max_batch=streams,
        max_file_lanes=streams, beam_size=BEAM, token_beam=BEAM, threads=1,
    )  # fmt: skip
    engine = build_engine(MODEL, {}, config, device="cpu")
    engine.start()
    try:
        yield engine
    finally:
        engine.stop(timeout_s=10)


@dataclass
class Arm:
    """One way to decode, and what each round of it cost."""

    name: str
    decode: Callable[[], list[str]]
    texts: list[str] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def take_turn(self) -> None:
        """Decode everything once, on the clock."""
        began = time.process_time()
        self.texts = self.decode()
        self.cpu_s.append(time.process_time() - began)

    def row(self, audio_s: float, base: "Arm") -> list[str]:
        """A line of the table: CPU per second of audio, spread, ratio, words wrong."""
        per_s = [1000 * cpu_s / audio_s for cpu_s in self.cpu_s]
        ratio = statistics.median(base.cpu_s) / statistics.median(self.cpu_s)
        spread = f"{min(per_s):.1f}-{max(per_s):.1f}"
        equal = sum(ours == theirs for ours, theirs in zip(self.texts, base.texts, strict=True))
        return [
            self.name, f"{statistics.median(per_s):.1f}", spread, f"{ratio:.1f}",
            f"{equal} of {len(self.texts)}",
        ]  # fmt: skip


def golden_audio(streams: int) -> list[Samples]:
    """The two golden wavs in turn: the only audio this checkpoint understands."""
    wavs = sorted((GOLDEN / "wavs").glob("*.wav"))
    audio = [soundfile.read(path, dtype="float32")[0] for path in wavs]
    return [audio[index % len(audio)] for index in range(streams)]


def main() -> None:
    """Run it and write docs/benchmarks/against_wenet.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wenet", type=Path, required=True, help="a checkout of WeNet")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = wenet_model(arguments.wenet, MODEL), load_model(MODEL).tokenizer
    audio = golden_audio(arguments.streams)
    with torch.inference_mode(), earshot(1) as alone, earshot(arguments.streams) as together:
        arms = [
            Arm(
                "WeNet", lambda: [tokenizer.decode(ids) for ids in decode_with_wenet(model, audio)]
            ),
            Arm("Earshot, one at a time", lambda: [run_all(alone, [a], ASK)[0] for a in audio]),
            Arm("Earshot, together", lambda: run_all(together, audio, ASK)),
        ]
        for _ in range(arguments.rounds):
            for arm in arms:
                arm.take_turn()
    audio_s = sum(map(len, audio)) / RATE_HZ
    header = [
        "arm",
        "CPU ms per s of audio",
        "min-max",
        "times less than WeNet",
        "texts as WeNet's",
    ]
    body = f"""
{arguments.streams} streams ({audio_s:.0f} s) of the two golden wavs through the golden U2++
checkpoint (0.5 M parameters), chunk 16, all left context, beam 10, attention rescoring, float32,
one thread, {arguments.rounds} rounds, arms in turns. WeNet is its Python code at commit 01546996
with Earshot's fbank in front; it searches once at the end and gives no partial results, Earshot
gives them after every chunk. WeNet's C++ runtime is not in this comparison.

{table(header, [arm.row(audio_s, arms[0]) for arm in arms])}
"""
    print(body)
    print(write_report("against_wenet", "The same checkpoint in WeNet's Python", body.lstrip()))


if __name__ == "__main__":
    main()
