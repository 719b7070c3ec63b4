"""A real `earshot serve` of small models that NeMo saved: random weights, NeMo's texts."""

import asyncio
import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile
from server_process import Server, earshot, served
from socket_client import Transcript, listen
from websockets.exceptions import InvalidStatus

from earshot.models.checkpoints.checkpoint import load_model
from earshot.service.commands.cli import main

RATE_HZ = 16_000
WORDS = ("the", "quick", "for", "loops", "dog")
ARPA = f"""\\data\\
ngram 1={len(WORDS) + 2}

\\1-grams:
-99 <s>
-1 </s>
{chr(10).join(f"-0.8 {word}" for word in WORDS)}

\\end\\
"""
WHOLE = {"endpointing": "false"}
MODES = (
    "transducer_greedy_search",
    "transducer_beam_search",
    "ctc_wfst_beam_search",
    "ctc_prefix_beam_search",
    "ctc_greedy_search",
)


@pytest.fixture(scope="module")
def models(shared_dir: Path) -> Path:
    folder = shared_dir / "golden" / "nemo"
    if not folder.exists():
        pytest.skip(f"shared data is missing: {folder}")
    return folder


@pytest.fixture(scope="module")
def clips(models: Path) -> list[bytes]:
    """NeMo's four clips as linear16."""
    with np.load(models / "audio.npz") as arrays:
        rows = zip(arrays["audio"], arrays["lengths"], strict=True)
        return [(row[:n] * 32768).clip(-32768, 32767).astype("<i2").tobytes() for row, n in rows]


@pytest.fixture(scope="module")
def graph(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of five words in the units of the hybrid's CTC head."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "lm.arpa").write_text(ARPA)
    compiled = folder / "lm.graph"
    made_of = ["--lm", str(folder / "lm.arpa"), "--model", str(models / "hybrid_tdt_ctc.nemo")]
    assert main(["graph", "build", *made_of, "--out", str(compiled)]) == 0
    return compiled


@pytest.fixture(scope="module")
def streaming(models: Path) -> Iterator[Server]:
    """Two engines of a model that hears in chunks."""
    model = str(models / "rnnt_streaming.nemo")
    with served("--model", model, "--engines", "2", "--max-streams", "8") as server:
        yield server


@pytest.fixture(scope="module")
def hybrid(models: Path, graph: Path) -> Iterator[Server]:
    """A model that hears in windows, with a graph."""
    model = str(models / "hybrid_tdt_ctc.nemo")
    with served("--model", model, "--graph", str(graph), "--max-streams", "8") as server:
        yield server


def wav(clip: bytes) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, np.frombuffer(clip, "<i2"), RATE_HZ, format="WAV")
    return file.getvalue()


async def posted(server: Server, clip: bytes, **parameters: Any) -> dict[str, Any]:
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        answer = await client.post(server.http("/v1/listen"), params=parameters, content=wav(clip))
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def alternatives(answer: dict[str, Any]) -> list[str]:
    [channel] = answer["results"]["channels"]
    return [each["transcript"] for each in channel["alternatives"]]


def nemos_texts(models: Path, name: str) -> list[str]:
    """What NeMo's greedy decoding made of the clips."""
    tokenizer = load_model(models / f"{name}.nemo").tokenizer
    decoded = json.loads((models / f"{name}.json").read_text())["greedy"]
    clips = decoded["max_symbols_10"]["reference_single"]
    return [tokenizer.decode(clip["tokens"]) for clip in clips]


async def test_streams_and_files_of_two_engines_have_nemos_texts(
    streaming: Server, clips: list[bytes], models: Path
) -> None:
    """Each clip twice at once, so that both engines have some."""
    url = streaming.listen_url(interim_results="true", **WHOLE)
    heard = await asyncio.gather(*(listen(url, clip) for clip in clips * 2))
    read = await asyncio.gather(*(posted(streaming, clip, **WHOLE) for clip in clips))
    expected = nemos_texts(models, "rnnt_streaming")
    assert [one.text for one in heard] == expected * 2
    assert [alternatives(one)[0] for one in read] == expected
    assert all(one.close_code == 1000 for one in heard)
    assert all(any(one.partials) for one in heard[:3])


async def test_a_chunk_that_the_model_was_trained_in_can_be_asked_for(
    streaming: Server, clips: list[bytes]
) -> None:
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        [model] = (await client.get(streaming.http("/v1/models"))).json()["stt"]
    assert (model["chunk_ms"], model["chunks_ms"]) == (560, [80, 160, 560])
    assert (model["heads"], model["buffered"]) == (["rnnt"], False)
    asked = [{}, {"chunk": 560}, {"chunk": 80}]
    found = [alternatives(await posted(streaming, clips[0], **WHOLE, **each)) for each in asked]
    assert found[0] == found[1] != found[2]
    with pytest.raises(InvalidStatus, match="400"):
        await listen(streaming.listen_url(chunk=240), b"")


async def test_what_a_request_asks_in_vain_is_told(streaming: Server, clips: list[bytes]) -> None:
    wishes = {"punctuate": "true", "alternatives": 3, "language": "de"}
    heard = await listen(streaming.listen_url(**wishes), clips[2])
    answer = await posted(streaming, clips[2], **wishes)
    [metadata] = heard.of_type("Metadata")
    for warnings in (metadata["warnings"], answer["metadata"]["warnings"]):
        assert {each["parameter"] for each in warnings} == {"punctuate", "language"}
    assert len(alternatives(answer)) == 1


async def test_a_hybrid_is_decoded_as_the_mode_says(hybrid: Server, clips: list[bytes]) -> None:
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        [model] = (await client.get(hybrid.http("/v1/models"))).json()["stt"]
    assert tuple(model["modes"]) == MODES
    assert (model["heads"], model["buffered"]) == (["tdt", "ctc"], True)
    assert model["graph"]["words"] == len(WORDS)
    found = {
        mode: alternatives(await posted(hybrid, clips[0], mode=mode, alternatives=3, **WHOLE))
        for mode in MODES
    }
    transducer, beam, graph, prefix, greedy = found.values()
    assert 1 <= len(beam) <= 3
    assert transducer == alternatives(await posted(hybrid, clips[0], **WHOLE))
    assert set(" ".join(graph).split()) <= set(WORDS)
    assert [len(each) for each in (transducer, graph, prefix, greedy)] == [1, 3, 3, 1]
    assert len({transducer[0], graph[0], prefix[0]}) == 3


async def test_boosts_of_a_mode_with_a_beam_are_heard(hybrid: Server, clips: list[bytes]) -> None:
    """Words that the graph lacks too, in the request's capitals."""
    for mode in ("ctc_wfst_beam_search", "ctc_prefix_beam_search"):
        heard = await listen(hybrid.listen_url(mode=mode, keyterm="Loops:20", **WHOLE), clips[0])
        boosted = [word for word in words(heard) if word.get("boosted")]
        assert {word["word"] for word in boosted} == {"Loops"}
    refusing = await listen(hybrid.listen_url(mode="ctc_greedy_search", keyterm="Loops"), clips[3])
    [metadata] = refusing.of_type("Metadata")
    assert [each["type"] for each in metadata["warnings"]] == ["unboostable_phrase"]


def words(heard: Transcript) -> list[dict[str, Any]]:
    """The words of the finals."""
    return [
        word
        for message in heard.of_type("Results")
        if message["is_final"]
        for word in message["channel"]["alternatives"][0]["words"]
    ]


def test_a_graph_of_another_models_units_is_refused_in_one_line(models: Path, graph: Path) -> None:
    model = str(models / "conformer_ctc_striding4.nemo")
    run = subprocess.run(
        earshot("serve", "--port", "0", "--model", model, "--graph", str(graph)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 2
    assert "was built for 65 units; the model has 29" in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_file_is_transcribed_without_a_server(
    models: Path, graph: Path, clips: list[bytes], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "clip.wav").write_bytes(wav(clips[2]))
    command = ["transcribe", str(tmp_path / "clip.wav"), "--silence-ms", "60000", "--model"]
    assert main([*command, str(models / "rnnt_streaming.nemo")]) == 0
    assert capsys.readouterr().out.strip() == nemos_texts(models, "rnnt_streaming")[2]
    searched = ["--graph", str(graph), "--mode", "ctc_wfst_beam_search"]
    assert main([*command, str(models / "hybrid_tdt_ctc.nemo"), *searched]) == 0
    assert set(capsys.readouterr().out.split()) <= set(WORDS)


def test_models_describes_archives(models: Path, capsys: pytest.CaptureFixture) -> None:
    names = ["rnnt_streaming", "hybrid_tdt_ctc"]
    assert main(["models", *(str(models / f"{name}.nemo") for name in names)]) == 0
    told = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [value for name, value in told if name == "heads"] == ["rnnt", "tdt, ctc"]
    assert [value for name, value in told if name == "buffered"] == ["no", "yes"]
