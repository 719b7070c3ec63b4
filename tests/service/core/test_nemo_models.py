"""NeMo's models of our own making behind a server: what may be asked of them, and what not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nemo_writer import SIZE, options, write_archive

from earshot.service.core.engine_setup import load_engine, served_model, warm_up
from earshot.service.errors import StartupError
from earshot.service.settings import Settings

AUDIO = "encoding=linear16&sample_rate=16000"
PIECES = b"[UNK]\na\nb\n##c\n."
WORDPIECES: dict[str, Any] = {"tokenizer": {"type": "wpe", "vocab_path": "nemo:vocab.txt"}}
WITHOUT_AUTO = {"en-US": 0, "de-DE": 1}
MODELS: dict[str, tuple[str, dict[str, int] | None]] = {
    "ctc": ("EncDecCTCModelBPE", None),
    "hybrid": ("EncDecHybridRNNTCTCBPEModel", None),
    "prompt": ("EncDecRNNTBPEModelWithPrompt", {**WITHOUT_AUTO, "auto": 4}),
    "prompt without auto": ("EncDecRNNTBPEModelWithPrompt", WITHOUT_AUTO),
}
"""Classes, and the languages of a prompt."""


def prompt_of(languages: dict[str, int] | None) -> dict[str, Any]:
    if languages is None:
        return {}
    return {
        "model_defaults__initialize_prompt_feature": True,
        "model_defaults__enc_hidden": SIZE,
        "model_defaults__num_prompts": 5,
        "model_defaults__prompt_dictionary": languages,
    }


@pytest.fixture
def model(request, tmp_path) -> Path:
    kind, languages = MODELS[getattr(request, "param", "ctc")]
    values = options(kind, **WORDPIECES, **prompt_of(languages))
    return write_archive(tmp_path / "tiny.nemo", values, {"vocab.txt": PIECES})


@pytest.fixture
def settings(model) -> Settings:
    return Settings.load(model=model, max_streams=4)


@pytest.fixture
def engine(settings):
    engine = load_engine(settings)
    engine.start()
    warm_up(engine, engine.model.languages)
    yield engine
    assert engine.stop(60)


@pytest.fixture
def served(engine, settings):
    return served_model(engine, settings)


def sound() -> bytes:
    """Two seconds of something."""
    return np.random.default_rng(0).integers(-9000, 9000, 32_000, np.int16).tobytes()


@pytest.fixture
def refused(serve):
    """Why a request is refused, as a file and as a socket."""

    async def of(query: str) -> str:
        async with serve() as server, server.client() as client:
            answer = await client.post(f"/v1/listen?{AUDIO}&{query}", content=sound())
            assert answer.status_code == 400
            with pytest.raises(Exception, match="HTTP 400") as socket:
                await server.listen(f"{AUDIO}&{query}")
        told: str = answer.json()["err_msg"]
        assert json.loads(socket.value.response.body)["err_msg"] == told
        return told

    return of


@pytest.mark.parametrize("model", MODELS, indirect=True)
async def test_files_and_streams_are_heard(serve, read, engine):
    query = f"{AUDIO}&language=de"
    async with serve() as server, server.client() as client:
        file = await client.post(f"/v1/listen?{query}", content=sound())
        async with server.listen(query) as socket:
            await socket.send(sound())
            await socket.send(json.dumps({"type": "CloseStream"}))
            messages = await read(socket)
            assert socket.close_code == 1000
    assert file.status_code == 200
    assert messages[-1]["type"] == "Metadata"


@pytest.mark.parametrize(
    ("model", "query", "complaint"),
    [
        ("ctc", "mode=banana", "mode=banana: must be one of ctc_prefix_beam_search, ctc_greedy"),
        (
            "hybrid",
            "mode=attention",
            "mode=attention: must be one of transducer_greedy_search, transducer_beam",
        ),
        ("ctc", "mode=ctc_wfst_beam_search", "must be one of ctc_prefix_beam_search, ctc_greedy"),
        ("ctc", "chunk=240", "chunk=240: this model may be asked for 2000, 10000"),
        ("ctc", "chunk=whole", "chunk=whole: this model may be asked for 2000, 10000"),
        ("ctc", "lm=on", "lm=on: there is none here"),
        (
            "hybrid",
            "beam=9&lm_weight=1",
            "lm_weight, beam: no decoding graph is searched, there is none here",
        ),
        ("ctc", "neural_lm_weight=1", "neural_lm_weight: there is no neural language model here"),
        ("prompt", "language=fr", "language=fr: not served here; the model knows en-US, de-DE"),
        ("prompt without auto", "", "language is not told, and the model does not find it out"),
    ],
    indirect=["model"],
)
async def test_what_cannot_be_had_is_refused_by_name(refused, engine, query, complaint):
    assert complaint in await refused(query)


@pytest.mark.parametrize("model", ["prompt", "ctc"], indirect=True)
async def test_a_language_reaches_a_model_with_a_prompt_and_is_not_checked_by_others(serve, engine):
    async with serve() as server, server.client() as client:
        answers = [
            (await client.post(f"/v1/listen?{AUDIO}&language={each}", content=sound())).json()
            for each in ("de-AT", "en-US")
        ]
    warned = [answer["metadata"].get("warnings", []) for answer in answers]
    knows = bool(engine.model.languages)
    assert [bool(each) for each in warned] == [not knows] * 2
    texts = [each["results"]["channels"][0]["alternatives"][0]["transcript"] for each in answers]
    assert (texts[0] != texts[1]) is knows


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"chunk_size": 4}, "chunk_size: this model hears in windows of its own"),
        ({"num_left_chunks": 4}, "have no option num_left_chunks"),
        ({"neural_lm": "x.lm"}, "ranks what a graph search finds; there is no graph"),
        ({"graph": "nosuch.graph"}, "cannot use the graph nosuch.graph"),
        ({"transducer_beam": 4}, "transducer_beam: this model has no transducer"),
        ({"transducer_loop": "cpu"}, "transducer_loop: this model has no transducer"),
        ({"transducer_lm": "nosuch.arpa"}, r"transducer_lm: nosuch\.arpa: cannot be read: No such"),
        ({"transducer_lm_weight": 1}, "is set, and there is no language model of labels"),
    ],
)
def test_settings_that_it_has_no_place_for_are_refused_at_the_start(model, settings, complaint):
    with pytest.raises(StartupError, match=complaint):
        load_engine(Settings.load(model=model, **settings))


NUMBERED = """\\data\\
ngram 1=6

\\1-grams:
-3 <unk>
-3 <s>
-1 d
-1 e
-0.1 f
-2 g

\\end\\
"""
"""By NeMo's characters of numbers: of the first four labels, the third likelier than others."""


@pytest.fixture
def numbered(tmp_path) -> Path:
    (tmp_path / "lm.arpa").write_text(NUMBERED)
    return tmp_path / "lm.arpa"


def test_a_model_of_labels_needs_a_transducer(model, numbered):
    with pytest.raises(StartupError, match="language model of labels: this model has no trans"):
        load_engine(Settings.load(model=model, transducer_lm=numbered))


def test_a_model_of_labels_is_refused_by_a_u2_model_without_a_transducer(numbered):
    with pytest.raises(StartupError, match="language model of labels: this model has no trans"):
        load_engine(Settings.load(transducer_lm=numbered))


class TestLmOfLabels:
    """A hybrid served with a language model of its labels."""

    @pytest.fixture
    def model(self, tmp_path, numbered) -> Path:
        values = options("EncDecHybridRNNTCTCBPEModel", **WORDPIECES)
        return write_archive(tmp_path / "tiny.nemo", values, {"vocab.txt": PIECES})

    @pytest.fixture
    def settings(self, model, numbered) -> Settings:
        return Settings.load(model=model, transducer_lm=numbered, max_streams=4)

    def test_it_is_told_with_the_model(self, served):
        told = {"order": 1, "ngrams": 6, "labels": 4, "numbered": True}
        assert served.details["transducer_lm"] == told

    async def test_a_request_may_weigh_it(self, serve, engine):
        query = f"/v1/listen?{AUDIO}&mode=transducer_beam_search"
        texts = []
        async with serve() as server, server.client() as client:
            for wish in ("", "&transducer_lm_weight=0", "&lm=off", "&transducer_lm_weight=10"):
                answer = await client.post(query + wish, content=sound())
                assert answer.status_code == 200
                [channel] = answer.json()["results"]["channels"]
                texts.append(channel["alternatives"][0]["transcript"])
        assert texts[1] == texts[2] != texts[3]

    async def test_other_modes_have_no_weight_for_it(self, refused, engine):
        complaint = "transducer_lm_weight: mode transducer_beam_search alone asks such a model"
        assert complaint in await refused("transducer_lm_weight=1")


@pytest.mark.parametrize("model", ["hybrid"], indirect=True)
def test_a_gpus_loop_is_refused_at_the_start_where_there_is_no_gpu(model):
    with pytest.raises(StartupError, match="transducer_loop is kernel: the model is on no GPU"):
        load_engine(Settings.load(model=model, device="cpu", transducer_loop="kernel"))
