"""Segments that follow a cut for their length: models go on behind the words told before."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from searching import MODES, named, together, told
from tiny_lms import SMALL, TENANT, alike, write_lm

from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordClass
from earshot.decoder_kernels.wfst.search_lm import UNKNOWN_WORD, NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from earshot.streaming.entities import read_entities
from earshot.streaming.language_models.list_prices import ListPrices
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

CUT = EndpointConfig(silence_ms=None, max_utterance_ms=2000)
UNLIKE = {
    **TENANT, "<digit>": 1.5, "<s> 一": 0.5, "<s> 二": 3.0, "一 一": 2.0, "一 二": 0.25,
    "七 一": 0.75, "<unk> 一": 5.0, "<digit> 一": 0.125, "<s> 一 二": 0.125, "一 一 二": 4.0,
    "一 二 一": 1.5, "二 一 一": 0.5, "一 二 二": 0.75, "<digit> 一 一": 2.75, "<unk> 七 一": 0.5,
    "一 一 二 一": 2.5, "二 一 一 二": 0.25, "一 二 一 一": 3.5, "一 一 一 一": 1.25,
    "一 <digit> 二 一": 1.75, "二 <unk> 一 一": 0.625,
}  # fmt: skip
"""Beginnings of sentences are unlike what goes on behind words, up to three of them."""
OTHER = {**SMALL, "二": 0.1, "一 二": 3.0, "二 二": 0.25, "<s> 二": 2.0, "二 一 二": 0.75}
AFTER_START = {"<s> 一": 6.0, "<s> 七": 0.1}
AFTER_WORDS = {"一 一": 0.1, "一 七": 6.0, "七 一": 0.1, "七 七": 6.0}
AFTER_DIGITS = {
    "<digit>": 0.5, "<digit> 七": 0.1, "<digit> 一": 6.0, "<digit> <digit>": 9.0,
    "<digit> <digit> 一": 0.1, "<digit> <digit> 七": 6.0,
}  # fmt: skip

UNITS = 6
DIGIT = 4
"""The class's number in states: behind the words of `alike`."""
TEXTS = ("", "一", "七", "二", WordClass("digit"))
BEFORE = [
    (),
    (1,),
    (3,),
    (1, 3),
    (1, 3, 1),
    (3, 1, 1),
    (1, 3, 1, 1),
    (UNKNOWN_WORD,),
    (3, UNKNOWN_WORD),
    (DIGIT,),
    (1, DIGIT),
    (DIGIT, 1),
    (UNKNOWN_WORD, 2),
]


class Searches:
    """Searches of `alike`, without limits."""

    def __init__(self, folder: Path, shares: dict[str, float]) -> None:
        self.graph = alike(folder / "graph", UNITS)
        self.images = [LmImage(write_lm(folder / f"{name}.lm", MODELS[name])) for name in shares]
        self.shares = tuple(shares.values())
        assert self.graph.small_lm is not None
        self.search_lm = SearchLm(
            NumberedLm.of(self.graph.small_lm, self.graph.word_texts),
            [NumberedLm.of(image, self.graph.word_texts) for image in self.images],
            self.shares,
            gain_limit=math.inf,
            history_beam=math.inf,
            classes=["digit"],
        )
        config = WfstSearchConfig(max_tokens=2000, workers=1)
        self.search = WfstSearch(self.graph, config, num_slots=3)
        for slot in range(3):
            options = WfstOptions(beam=200.0, lattice_beam=60.0, max_active=2000)
            self.search.set_options(slot, options)

    def costs(self, slot: int, count: int = 60) -> dict[tuple[int, ...], float]:
        [listed] = self.search.nbest([slot], count)
        assert listed is not None
        return {each.words: each.cost for each in listed}

    def hear(self, log_probs: torch.Tensor, slots: list[int]) -> None:
        lanes = torch.tensor(slots)
        lengths = torch.full((len(slots),), log_probs.shape[0])
        self.search.advance(lanes, log_probs.expand(len(slots), -1, -1).contiguous(), lengths)

    def prices(self, texts: list[tuple[int, ...]], before: tuple[int, ...]) -> list[float]:
        said = [None if word == UNKNOWN_WORD else TEXTS[word] for word in before]
        mix = MixedLm(self.images, self.shares)
        return ListPrices(self.graph).of(mix, texts, said, ended=True)


MODELS = {"tenant": UNLIKE, "other": OTHER}


@pytest.mark.parametrize("shares", [{"tenant": 1.0}, {"tenant": 0.25, "other": 0.75}])
@pytest.mark.parametrize("before", BEFORE)
def test_a_search_goes_on_behind_words_as_lists_do(tmp_path, shares, before):
    """All its costs are the graph's and what lists add; the graph's own model begins a sentence."""
    own = Searches(tmp_path, shares)
    own.search.set_lm(1, own.search_lm.behind(before))
    log_probs = torch.randn(7, UNITS, generator=torch.Generator().manual_seed(3)).log_softmax(-1)
    own.hear(log_probs[:3], [0, 1])
    own.hear(log_probs[3:], [0, 1])
    graph, found = own.costs(0), own.costs(1)
    both = sorted(graph.keys() & found.keys())
    assert max(map(len, both)) >= 4
    prices = own.prices(both, before)
    wanted = np.array([graph[words] for words in both]) + prices
    np.testing.assert_allclose([found[words] for words in both], wanted, atol=1e-3)


def test_streams_behind_other_words_are_searched_as_if_alone(tmp_path):
    """What is looked up for one is no other's, also where it comes after it in the same slot."""
    own = Searches(tmp_path, {"tenant": 1.0})
    log_probs = torch.randn(6, UNITS, generator=torch.Generator().manual_seed(5)).log_softmax(-1)
    alone = []
    for before in ((), (1, 3), (DIGIT,)):
        own.search.set_lm(0, own.search_lm.behind(before))
        own.search.reset(torch.tensor([0]))
        own.hear(log_probs, [0])
        alone.append(own.costs(0))
    assert alone[0] != alone[1] != alone[2]
    for slot, before in enumerate(((), (1, 3), (DIGIT,))):
        own.search.set_lm(slot, own.search_lm.behind(before))
    own.search.reset(torch.tensor([0, 1, 2]))
    own.hear(log_probs, [0, 1, 2])
    assert [own.costs(slot) for slot in range(3)] == alone


@pytest.fixture
def lms(tmp_path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "tenant.lm", {**TENANT, **AFTER_START, **AFTER_WORDS})
    write_lm(folder / "calls.lm", {**TENANT, **AFTER_DIGITS})
    return folder


def asking(lm: str, members=None) -> StreamConfig:
    graph = named(lm, entities=read_entities(members or {}))
    return StreamConfig(mode=MODES[0], graph=graph, endpoint=CUT)


@pytest.mark.parametrize("in_search", [False, True])
@pytest.mark.parametrize("lm", ["tenant", "tenant:0.99,on:0.01"])
def test_a_segment_behind_a_cut_goes_on_with_its_words(make_alike, sounds, lm, in_search):
    """Behind the start 七 is likelier, behind a word 一."""
    engine = make_alike(in_search=in_search)
    samples = sounds.speech("一" * 9, gap_s=0.5)
    heard = sounds.transcribe(engine, samples, asking(lm))
    texts = [final.alternatives[0].text for final in heard.finals]
    assert [final.cause for final in heard.finals][:2] == ["max_utterance"] * 2
    assert texts[0][0] == "七", texts
    assert set("".join(texts)[1:]) == {"一"}


@pytest.mark.parametrize("in_search", [False, True])
def test_and_behind_a_pause_a_sentence_begins(make_alike, sounds, in_search):
    engine = make_alike(in_search=in_search)
    config = StreamConfig(mode=MODES[0], graph=named("tenant"))
    heard = sounds.transcribe(engine, sounds.speech("一一_一一"), config)
    assert [final.alternatives[0].text for final in heard.finals] == ["七一", "七一"]


@pytest.mark.parametrize("in_search", [False, True])
@pytest.mark.parametrize("member", ["三", "三 四"])
def test_a_member_told_before_a_cut_is_its_class(make_alike, sounds, in_search, member):
    """Behind the class 七 is likelier, behind two of them and all else 一."""
    engine = make_alike(in_search=in_search)
    samples = sounds.speech("二" + (member.replace(" ", "") + "一") * 5, gap_s=0.5)
    heard = sounds.transcribe(engine, samples, asking("calls", {"digit": [member]}))
    texts = [final.alternatives[0].text for final in heard.finals]
    assert any(text.startswith("七") for text in texts[1:])
    assert "一" not in "".join(texts)


def test_company_changes_nothing_behind_a_cut(make_alike, sounds):
    engine, samples = make_alike(), sounds.speech("一" * 6 + "二一" * 3, gap_s=0.5)
    asked = [asking("tenant"), asking("calls", {"digit": ["三"]}), asking("tenant")]
    alone = [told(sounds.transcribe(engine, samples, config)) for config in asked]
    listeners = together(engine, asked, [samples] * len(asked), sounds)
    assert [told(each) for each in listeners] == alone
