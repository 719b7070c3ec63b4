"""What makes no search with language models is refused by name; what does leaves others alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from backoff_oracle import BackoffModel, random_model
from wfst_cases import SMALL, compact_graph

from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.wfst.search_lm import MAX_WORDS, NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

TEXTS = ("<eps>", "w0", "w1")


def numbered(folder: Path, order: int = 2, texts: tuple[str, ...] = TEXTS) -> NumberedLm:
    return packed(random_model(1, order), folder, texts)


def packed(model: BackoffModel, folder: Path, texts: tuple[str, ...] = TEXTS) -> NumberedLm:
    pack_arpa(model.write(folder), folder / "model.lm")
    return NumberedLm.of(LmImage(folder / "model.lm"), texts)


def graph() -> Graph:
    return compact_graph([Arc(0, 2, 1, 0.5, 1), Arc(0, 3, 2, 0.5, 1)], 1, TEXTS[1:])


def test_a_graphs_words_are_those_of_the_image(tmp_path: Path) -> None:
    found = numbered(tmp_path)
    assert found.numbers.tolist() == found.image.find_words(TEXTS).tolist()


def test_a_model_of_too_high_an_order_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="order 5; a search takes 4"):
        numbered(tmp_path, 5)


def test_a_graph_of_too_many_words_is_refused(tmp_path: Path) -> None:
    image = numbered(tmp_path).image
    with pytest.raises(InvalidConfig, match="2097151 words"):
        NumberedLm(image, np.zeros(MAX_WORDS + 1, np.uint32))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"large": []}, "1 to 4 models"),
        ({"shares": (0.5, 0.5)}, "each with its share"),
        ({"shares": (0.9,)}, "sum to 1"),
        ({"shares": (float("nan"),)}, "sum to 1"),
        ({"scale": -1.0}, "scale"),
        ({"scale": float("nan")}, "scale"),
        ({"gain_limit": -0.1}, "gain_limit"),
        ({"history_beam": float("nan")}, "history_beam"),
        ({"classes": ["town"]}, "no model has the class town"),
        ({"classes": ["name", "name"]}, "each once"),
        ({"classes": [f"c{n}" for n in range(17)]}, "up to 16 classes"),
    ],
)
def test_what_makes_no_search_is_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    model = numbered(tmp_path)
    fields: dict[str, object] = {"small": model, "large": [model], "shares": (1.0,)} | changes
    with pytest.raises(InvalidConfig, match=said):
        SearchLm(**fields)  # type: ignore[arg-type]


def test_numbers_of_another_graphs_words_are_refused(tmp_path: Path) -> None:
    own = numbered(tmp_path)
    other = NumberedLm.of(own.image, (*TEXTS, "w2"))
    with pytest.raises(InvalidConfig, match="other graphs"):
        SearchLm(own, [other], (1.0,))
    search = WfstSearch(graph(), WfstSearchConfig(max_tokens=100, **SMALL), 1)
    with pytest.raises(InvalidConfig, match="another graph"):
        search.set_lm(0, SearchLm(other, [other], (1.0,)))


def test_only_classes_that_some_model_has_may_be_asked(tmp_path: Path) -> None:
    plain = numbered(tmp_path)
    model = BackoffModel(1, dict.fromkeys([("w0",), ("<name>",), ("<s>",), ("</s>",)], 1024.0), {})
    named = packed(model, tmp_path)
    assert named.classes.keys() == {"name"}
    assert not plain.classes
    SearchLm(plain, [plain, named], (0.5, 0.5), classes=["name"])
    with pytest.raises(InvalidConfig, match="no model has the class name"):
        SearchLm(named, [plain], (1.0,), classes=["name"])


def test_the_scale_is_rounded_as_the_graphs_is(tmp_path: Path) -> None:
    model = numbered(tmp_path)
    assert SearchLm(model, [model], (1.0,), 1 / 3).scale == round(65536 / 3) / 65536


def test_a_slot_keeps_its_models_when_it_starts_over(tmp_path: Path) -> None:
    small, large = numbered(tmp_path, 1), numbered(tmp_path, 2)
    search = WfstSearch(graph(), WfstSearchConfig(max_tokens=100, **SMALL), 2)
    search.set_lm(0, SearchLm(small, [large], (1.0,), history_beam=8.0))
    frames = torch.tensor([[-3.0, -0.5, -1.0], [-3.0, -1.0, -0.25]])
    listed = []
    for _ in range(2):
        search.reset(torch.tensor([0, 1]))
        search.advance(torch.tensor([0, 1]), frames.expand(2, 2, 3), torch.tensor([2, 2]))
        listed.append(search.nbest([0, 1], 10))
    assert listed[0] == listed[1]
    assert listed[0][0] != listed[0][1]


def test_a_list_of_one_has_the_best_by_whole_gains(tmp_path: Path) -> None:
    costs = dict.fromkeys([("w0",), ("w1",), ("<s>",), ("</s>",)], 5120.0)
    gains = costs | {("w0",): 3072.0, ("w1",): 512.0}
    small, large = (packed(BackoffModel(1, each, {}), tmp_path) for each in (costs, gains))
    # Within the gain limit "w0" is the cheaper one.
    own = compact_graph([Arc(0, 2, 1, 0.0, 1), Arc(0, 2, 2, 0.5, 1)], 1, TEXTS[1:])
    search = WfstSearch(own, WfstSearchConfig(max_tokens=100, **SMALL), 1)
    search.set_lm(0, SearchLm(small, [large], (1.0,), gain_limit=1.0))
    search.advance(torch.tensor([0]), torch.tensor([[[-3.0, -0.5, -1.0]]]), torch.tensor([1]))
    [[one]], [many] = search.nbest([0], 1), search.nbest([0], 100)
    assert many is not None
    assert [each.words for each in many] == [(2,), (1,)]
    assert one == many[0]


@pytest.mark.parametrize("first", ["options", "models"])
def test_a_scale_by_which_the_small_model_would_stay_is_refused(tmp_path: Path, first: str) -> None:
    model = numbered(tmp_path)
    search = WfstSearch(graph(), WfstSearchConfig(max_tokens=100, **SMALL), 2)
    changes = {
        "options": lambda: search.set_options(0, WfstOptions(max_active=100, graph_scale=0.5)),
        "models": lambda: search.set_lm(0, SearchLm(model, [model], (1.0,), 0.75)),
    }
    for name in sorted(changes, key=lambda name: name != first):
        changes[name]()
    frames = torch.tensor([[[-3.0, -0.5, -1.0]]])
    search.advance(torch.tensor([1]), frames, torch.tensor([1]))
    with pytest.raises(InvalidConfig, match=r"slot 0: .* 0\.75, its graph_scale is 0\.5"):
        search.advance(torch.tensor([0]), frames, torch.tensor([1]))
    search.set_options(0, WfstOptions(max_active=100, graph_scale=0.75))
    search.advance(torch.tensor([0]), frames, torch.tensor([1]))
