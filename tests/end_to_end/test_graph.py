"""A server with a decoding graph: the bundled model and a language model of a few words."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from server_process import Server, served
from socket_client import CLOSE_STREAM, Transcript, listen, receive, send
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from earshot.service.commands.cli import main

ARPA = """\\data\\
ngram 1=7
ngram 2=2

\\1-grams:
-99 <s> -0.5
-1 </s>
-2 <unk>
-0.7 smart -0.3
-0.7 set -0.3
-0.9 later -0.3
-0.9 mirrors -0.3

\\2-grams:
-0.3 <s> smart
-0.3 smart mirrors

\\end\\
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With a graph that knows "mirrors" and not "mirror"."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "lm.arpa").write_text(ARPA)
    compiled = str(folder / "lm.graph")
    assert main(["graph", "build", "--lm", str(folder / "lm.arpa"), "--out", compiled]) == 0
    with served("--graph", compiled) as server:
        yield server


@pytest.fixture(scope="module")
def audio(repository_dir: Path, linear16: Callable[[Path], bytes]) -> bytes:
    """Somebody says "smart mirror"."""
    return linear16(repository_dir / "web" / "samples" / "smart-mirror.opus")


@pytest.fixture(scope="module")
def audio_file(repository_dir: Path) -> bytes:
    """The same, as a file."""
    return (repository_dir / "web" / "samples" / "smart-mirror.opus").read_bytes()


def words(heard: Transcript) -> list[tuple[str, bool]]:
    """Each word of the finals, and whether it was boosted."""
    return [
        (word["word"], word.get("boosted", False))
        for message in heard.of_type("Results")
        if message["is_final"]
        for word in message["channel"]["alternatives"][0]["words"]
    ]


async def test_the_search_finds_words_of_the_graph_and_the_decoder_may_write_others(
    server: Server, audio: bytes
) -> None:
    asked = [{"mode": "ctc_wfst_beam_search"}, {}, {"lm": "off"}, {"mode": "ctc_greedy_search"}]
    heard = await asyncio.gather(*(listen(server.listen_url(**one), audio) for one in asked))
    *searched, greedy = (one.text for one in heard)
    assert searched == ["smart mirrors"] + ["smart mirror"] * 2
    assert greedy
    assert "mirrors" not in greedy.split()
    assert all(one.close_code == 1000 for one in heard)


async def test_a_boosted_word_from_outside_is_heard_streamed_and_in_files(
    server: Server, audio: bytes, audio_file: bytes
) -> None:
    heard = await listen(server.listen_url(keyterm=["Mirror:6", "ζ"]), audio)
    assert words(heard) == [("smart", False), ("Mirror", True)]
    (metadata,) = heard.of_type("Metadata")
    # One cannot be boosted at all; the other's weight is more than a word can earn.
    assert [warning["phrase"] for warning in metadata["warnings"]] == ["ζ", "Mirror"]
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(
            server.http("/v1/listen"),
            params={"keyterm": "Mirror:6", "format": "text"},
            content=audio_file,
        )
    assert answer.text.split() == ["smart", "Mirror"]


@pytest.mark.parametrize(
    ("configure", "answer", "said"),
    [
        ({"keyterms": ["smart Mirror:6"]}, "ConfigureSuccess", [("smart", True), ("Mirror", True)]),
        ({"lm": "off"}, "ConfigureSuccess", [("smart", False), ("mirror", False)]),
        (
            {"keyterms": ["smart Mirror:6"], "max_active": 99999},
            "ConfigureFailure",
            [("smart", False), ("mirror", False)],
        ),
    ],
)
async def test_what_is_configured_in_a_stream_counts_for_the_words_before(
    server: Server,
    audio: bytes,
    configure: dict[str, object],
    answer: str,
    said: list[tuple[str, bool]],
) -> None:
    heard = Transcript()
    async with connect(server.listen_url(endpointing="false")) as socket:
        receiving = asyncio.create_task(receive(socket, heard))
        await send(socket, audio)
        await socket.send(json.dumps({"type": "Configure", **configure}))
        await socket.send(CLOSE_STREAM)
        await receiving
    assert heard.of_type(answer)
    assert words(heard) == said


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ({"max_active": 99999}, "max_active=99999: must be a whole number from 1 to 1000"),
        ({"lm": "off", "beam": 12}, "beam: no decoding graph is searched, because of lm=off"),
        ({"lm_weight": "much"}, "lm_weight=much"),
        ({"neural_lm_weight": 1}, "neural_lm_weight: there is no neural language model here"),
    ],
)
async def test_what_cannot_be_had_is_refused_streamed_and_for_files(
    server: Server, audio_file: bytes, query: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await listen(server.listen_url(**query), b"")
    assert refused.value.response.status_code == 400
    assert complaint in json.loads(refused.value.response.body)["err_msg"]
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(server.http("/v1/listen"), params=query, content=audio_file)
    assert answer.status_code == 400
    assert complaint in answer.json()["err_msg"]


async def test_the_server_tells_of_its_graph(server: Server) -> None:
    async with httpx.AsyncClient(timeout=60) as client:
        [model] = (await client.get(server.http("/v1/models"))).json()["stt"]
        metrics = (await client.get(server.http("/metrics"))).text
    assert model["graph"]["words"] == 4
    assert model["neural_lm"] is None
    assert "ctc_wfst_beam_search" in model["modes"]
    assert "earshot_search_dead_ends_total 0.0" in metrics
