"""A WeNet model directory, served as it is, gives WeNet's text to the letter."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from server_process import Server, served
from socket_client import listen

MODES = ("ctc_greedy_search", "ctc_prefix_beam_search", "attention", "attention_rescoring")
CHUNK_SIZES = (16, 8, 4)
TEXTS = {
    "aishell-BAC009S0724W0121.wav": "广州市房地产中介协会分析",
    "librispeech-1995-1837-0001.wav": (
        "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON "
        "ITSELF BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
    ),
}
OTHER_STREAMS = 20
# The model was fitted to whole utterances: a pause must not split them. Its capitals are asked for.
WHOLE = {"endpointing": "false", "punctuate": "true"}


@pytest.fixture(scope="module", params=CHUNK_SIZES, ids=lambda size: f"chunk{size}")
def server(golden_model_dir: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of the golden model for each chunk size."""
    with served("--model", str(golden_model_dir), "--chunk-size", str(request.param)) as server:
        yield server


@pytest.fixture(params=TEXTS)
def wav(golden_dir: Path, request: pytest.FixtureRequest) -> Path:
    return golden_dir / "wavs" / str(request.param)


@pytest.fixture
def contents(golden_dir: Path) -> dict[str, bytes]:
    """Each wav as a file is posted."""
    return {name: (golden_dir / "wavs" / name).read_bytes() for name in TEXTS}


@pytest.mark.parametrize("mode", MODES)
async def test_streamed_wav_comes_out_letter_for_letter(
    server: Server, wav: Path, linear16: Callable[[Path], bytes], mode: str
) -> None:
    heard = await listen(server.listen_url(mode=mode, **WHOLE), linear16(wav))
    assert heard.text == TEXTS[wav.name]
    assert heard.close_code == 1000


async def posted(server: Server, file: bytes, mode: str) -> str:
    """The text of a file."""
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(
            server.http("/v1/listen"), params={"mode": mode, **WHOLE}, content=file
        )
    assert answer.status_code == 200
    text: str = answer.json()["results"]["channels"][0]["alternatives"][0]["transcript"]
    return text


@pytest.mark.parametrize("mode", MODES)
async def test_posted_wav_comes_out_letter_for_letter(
    server: Server, wav: Path, contents: dict[str, bytes], mode: str
) -> None:
    assert await posted(server, contents[wav.name], mode) == TEXTS[wav.name]


async def test_texts_are_the_same_beside_twenty_other_streams(
    server: Server,
    golden_dir: Path,
    contents: dict[str, bytes],
    linear16: Callable[[Path], bytes],
) -> None:
    """Both wavs in all modes at once, streamed and as files, among streams that end elsewhere."""
    wavs = {name: linear16(golden_dir / "wavs" / name) for name in TEXTS}
    names = list(TEXTS)
    others = [
        listen(
            server.listen_url(mode=MODES[i % len(MODES)]),
            wavs[names[i % 2]][: 32000 * (1 + i % 4)],
        )
        for i in range(OTHER_STREAMS)
    ]
    asked = [(mode, name) for mode in MODES for name in names]
    ours = [listen(server.listen_url(mode=mode, **WHOLE), wavs[name]) for mode, name in asked]
    files = [posted(server, contents[name], mode) for mode, name in asked]
    _, heard, read = await asyncio.gather(
        asyncio.gather(*others), asyncio.gather(*ours), asyncio.gather(*files)
    )
    expected = [TEXTS[name] for _, name in asked]
    assert [one.text for one in heard] == expected
    assert read == expected
