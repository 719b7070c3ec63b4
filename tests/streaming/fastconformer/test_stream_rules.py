"""What streams may ask of NeMo's models, and the message of each refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_nemo import PROMPT

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.fastconformer.stream_rules import FastConformerRules, modes_of
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.stream_config import StreamConfig

CTC = FastConformerRules(
    modes_of(transducer=False, ctc=True, graph=True),
    GraphSearchConfig(max_active=500),
    frozenset({"graph"}),
    (80.0, 160.0, 560.0),
)
HYBRID = replace(CTC, modes=modes_of(transducer=True, ctc=True, graph=True))
PLAIN = replace(
    CTC, modes=modes_of(transducer=False, ctc=True, graph=False), graph=None, parts=frozenset()
)
RNNT = replace(PLAIN, modes=modes_of(transducer=True, ctc=False, graph=False))
WITH_LM = replace(RNNT, parts=frozenset({"transducer_lm"}))
PROMPTED = replace(RNNT, prompt=PROMPT)
NO_AUTO = replace(PROMPTED, prompt=replace(PROMPT, languages={"en-US": 0, "de-DE": 1}))


def test_heads_and_a_graph_make_modes_the_best_first() -> None:
    assert HYBRID.modes == (
        "transducer_greedy_search",
        "transducer_beam_search",
        "ctc_wfst_beam_search",
        "ctc_prefix_beam_search",
        "ctc_greedy_search",
    )
    assert PLAIN.modes == HYBRID.modes[3:]
    assert RNNT.modes == HYBRID.modes[:2]
    assert modes_of(transducer=True, ctc=False, graph=True) == RNNT.modes


@pytest.mark.parametrize(
    ("rules", "config", "search"),
    [
        (HYBRID, {}, "transducer"),
        (CTC, {}, "graph"),
        (PLAIN, {}, "prefix"),
        (RNNT, {}, "transducer"),
        (CTC, {"graph": GraphOptions(lm=False)}, "prefix"),
        (HYBRID, {"graph": GraphOptions(lm=False)}, "transducer"),
        (CTC, {"graph": GraphOptions(lm=True, max_active=500)}, "graph"),
        (HYBRID, {"mode": "ctc_wfst_beam_search", "graph": GraphOptions(beam=9.0)}, "graph"),
        (HYBRID, {"mode": "ctc_greedy_search"}, "greedy"),
        (RNNT, {"chunk_ms": 160.0}, "transducer"),
        (HYBRID, {"mode": "transducer_beam_search"}, "transducer_beam"),
        (
            WITH_LM,
            {"mode": "transducer_beam_search", "weights": {"transducer_lm": 0.5}},
            "transducer_beam",
        ),
        (
            WITH_LM,
            {"mode": "transducer_beam_search", "graph": GraphOptions(lm=True)},
            "transducer_beam",
        ),
        (WITH_LM, {"graph": GraphOptions(lm=False)}, "transducer"),
        (PROMPTED, {"language": "de"}, "transducer"),
        (RNNT, {"language": "any"}, "transducer"),
    ],
)
def test_a_stream_gets_the_search_of_its_mode(rules, config, search) -> None:
    assert rules.choose_search(StreamConfig(**config)) == search


@pytest.mark.parametrize(
    ("rules", "config", "complaint"),
    [
        (
            RNNT,
            {"mode": "ctc_greedy_search"},
            "mode=ctc_greedy_search: must be one of transducer_greedy_search, "
            "transducer_beam_search",
        ),
        (
            PLAIN,
            {"mode": "attention"},
            "mode=attention: must be one of ctc_prefix_beam_search, ctc_greedy_search",
        ),
        (
            CTC,
            {"mode": "ctc_wfst_beam_search", "graph": GraphOptions(lm=False)},
            "mode ctc_wfst_beam_search contradicts lm=off",
        ),
        (
            HYBRID,
            {"graph": GraphOptions(lm=True)},
            "lm=on: mode transducer_greedy_search uses none",
        ),
        (
            PLAIN,
            {"graph": GraphOptions(beam=9.0)},
            "beam: no decoding graph is searched, there is none here",
        ),
        (
            CTC,
            {"mode": "ctc_greedy_search", "graph": GraphOptions(lm_weight=1.0, max_active=9)},
            "lm_weight, max_active: no decoding graph is searched, "
            "mode ctc_greedy_search uses none",
        ),
        (CTC, {"graph": GraphOptions(max_active=501)}, "max_active is 501, at most 500 here"),
        (RNNT, {"chunk_ms": 320.0}, "chunk is 320, there are: 80, 160, 560"),
        (RNNT, {"chunk_ms": float("inf")}, "chunk is whole, there are: 80, 160, 560"),
        (
            CTC,
            {"weights": {"ctc": 1.0, "reverse": 0.3}},
            "ctc_weight, reverse_weight: no scorer of this model has a weight",
        ),
        (
            RNNT,
            {"mode": "transducer_beam_search", "weights": {"transducer_lm": 0.5}},
            "transducer_lm_weight: there is no language model of labels here",
        ),
        (
            WITH_LM,
            {"weights": {"transducer_lm": 0.5}},
            "transducer_lm_weight: mode transducer_beam_search alone asks such a model",
        ),
        (
            WITH_LM,
            {"mode": "transducer_beam_search", "weights": {"ctc": 0.5, "transducer_lm": 0.5}},
            "ctc_weight: no scorer of this model has a weight",
        ),
        (
            WITH_LM,
            {"mode": "transducer_beam_search", "graph": GraphOptions(lm=True, beam=9.0)},
            "beam: no decoding graph is searched, there is none here",
        ),
        (
            WITH_LM,
            {"graph": GraphOptions(lm=True)},
            "lm=on: there is none here",
        ),
        (
            PROMPTED,
            {"language": "fr-FR"},
            "language is fr-FR: there are en-US, de-DE, zh-CN, auto",
        ),
        (
            NO_AUTO,
            {},
            "language is not told, and the model does not find it out: there are en-US, de-DE",
        ),
    ],
)
def test_what_a_model_cannot_do_is_refused_in_words(rules, config, complaint) -> None:
    with pytest.raises(InvalidStreamConfig) as refusal:
        rules.choose_search(StreamConfig(**config))
    assert str(refusal.value) == complaint
