"""Models as a search asks them: numbered once, shared by streams, refused where nothing asks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_lms import SMALL, TENANT, alike, write_lm

from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig, UnusableGraph
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models import searched_lms
from earshot.streaming.language_models.held_lms import HeldLms, StreamLms
from earshot.streaming.language_models.lm_folder import LmFolder
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.language_models.searched_lms import SearchedMix, check_lm_in_search
from earshot.streaming.lm_mix import LmMix

LAW = LmMix.read("law")
IN_SEARCH = GraphSearchConfig(lm_in_search=True)
CPU = torch.device("cpu")
SIZES = WfstSearchConfig(
    max_tokens=200, backpointer_capacity=4096, entry_capacity=2048, candidate_capacity=8192
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "law.lm", TENANT)
    return folder


@pytest.fixture
def lms(tmp_path: Path, folder: Path) -> OpenLms:
    return OpenLms.of(folder, alike(tmp_path / "own", 12), IN_SEARCH, CPU)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The images that words were looked for in."""
    usual, names = LmImage.find_words, []

    def find_words(image: LmImage, texts: Sequence[str]) -> object:
        names.append(image.name)
        return usual(image, texts)

    monkeypatch.setattr(LmImage, "find_words", find_words)
    return names


def mix_of(held: HeldLms) -> SearchedMix:
    assert held.searched is not None
    return held.searched


def test_words_of_a_model_are_found_once_though_nobody_holds_it_between(
    lms: OpenLms, found: list[str]
) -> None:
    lms.hold(LAW).release()
    assert found == ["small.lm", "law.lm"]
    numbers = mix_of(lms.hold(LAW)).large[0].numbers
    assert found == ["small.lm", "law.lm"]
    assert numbers.tolist() == LmImage(Path(lms._folder.path / "law.lm")).find_words(
        ["<eps>", "一", "七", "二"]
    ).tolist()  # fmt: skip


def test_words_of_another_file_under_the_name_are_found_anew(
    lms: OpenLms, folder: Path, found: list[str]
) -> None:
    old = lms.hold(LAW)
    write_lm(folder / "new.lm", {**SMALL, "二": 0.1}).rename(folder / "law.lm")
    new = lms.hold(LAW)
    assert found == ["small.lm", "law.lm", "law.lm"]
    assert mix_of(old).large[0] is not mix_of(new).large[0]


OTHERS = {"<s>": 64.0, "</s>": 0.5, "<unk>": 9.0, "一": 3.0, "七": 0.25, "二": 2.0}
"""The words of `TENANT` under other numbers."""


@pytest.fixture
def replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has ``law.lm`` replaced so often, each time just after it was looked at."""
    usual, left = LmFolder.find, [0]

    def find(lms: LmFolder, name: str) -> object:
        file = usual(lms, name)
        if left[0]:
            left[0] -= 1
            write_lm(folder / "new.lm", OTHERS).rename(folder / "law.lm")
        return file

    monkeypatch.setattr(LmFolder, "find", find)
    return lambda times: left.__setitem__(0, times)


def test_a_file_that_is_replaced_before_it_is_opened_has_its_own_numbers(
    lms: OpenLms, replaced: Callable[[int], None]
) -> None:
    lms.hold(LAW).release()
    replaced(1)
    [new] = mix_of(lms.hold(LAW)).large
    assert new.numbers.tolist() == new.image.find_words(["<eps>", "一", "七", "二"]).tolist()
    assert lms.hold_open(LAW) is not None


def test_a_file_that_is_replaced_at_each_look_is_refused(
    lms: OpenLms, replaced: Callable[[int], None]
) -> None:
    replaced(1000)
    with pytest.raises(InvalidStreamConfig, match="lm=law: replaced again and again"):
        lms.hold(LAW)
    assert lms.count == 0


def test_numbers_of_a_model_that_is_gone_are_forgotten(
    lms: OpenLms, folder: Path, found: list[str]
) -> None:
    lms.hold(LAW).release()
    kept = (folder / "law.lm").rename(folder.parent / "kept")
    with pytest.raises(InvalidStreamConfig, match="no such model"):
        lms.check(LAW)
    kept.rename(folder / "law.lm")
    lms.hold(LAW)
    assert found == ["small.lm", "law.lm", "law.lm"]


@pytest.fixture
def two_numbered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three models may keep their numbers."""
    monkeypatch.setattr(searched_lms, "MOST_NUMBERED", 2)
    for name in ("a", "b"):
        write_lm(folder / f"{name}.lm", TENANT)


@pytest.mark.usefixtures("two_numbered")
def test_no_more_numbers_are_kept_than_may_be(lms: OpenLms, found: list[str]) -> None:
    for name in ("a", "law", "a", "b", "a", "law"):  # what was asked for last stays
        lms.hold(LmMix.read(name)).release()
    assert found == ["small.lm", "a.lm", "law.lm", "b.lm", "law.lm"]


@pytest.mark.usefixtures("two_numbered")
def test_numbers_that_were_at_hand_are_not_the_first_to_go(lms: OpenLms, found: list[str]) -> None:
    held = [lms.hold(LAW), lms.hold(LmMix.read("a")), lms.hold_open(LAW)]
    lms.hold(LmMix.read("b")).release()
    for each in held:
        assert each is not None
        each.release()
    lms.hold(LAW).release()
    assert found == ["small.lm", "law.lm", "a.lm", "b.lm"]


def test_a_damaged_class_is_the_error_of_who_names_the_model(lms: OpenLms, folder: Path) -> None:
    """Only a search reads the texts of classes, once the model is open."""
    image = write_lm(folder / "law.lm", {**TENANT, "<name>": 2.0})
    content = image.read_bytes()
    image.unlink()  # it may be mapped
    image.write_bytes(content.replace(b"<name>", b"<na\xffe>"))
    with pytest.raises(InvalidStreamConfig, match=r"lm=law: law\.lm is damaged: word \d is no UTF"):
        lms.hold(LAW)
    assert lms.count == 0


def test_a_model_that_knows_no_word_of_the_graph_is_refused(lms: OpenLms, folder: Path) -> None:
    write_lm(folder / "law.lm", {"<s>": 64.0, "</s>": 0.5, "A": 1.0})
    with pytest.raises(InvalidStreamConfig, match="lm=law: it knows none of the words"):
        lms.hold(LAW)
    assert lms.count == 0


def test_streams_that_ask_the_same_share_what_their_search_looks_up(lms: OpenLms) -> None:
    one, other = mix_of(lms.hold(LAW)), mix_of(lms.hold(LAW))
    assert one.search_lm(0.5) is other.search_lm(0.5)
    assert one.search_lm(0.5) is not one.search_lm(0.25)


def test_a_search_has_the_limits_of_the_engine(tmp_path: Path, folder: Path) -> None:
    config = replace(IN_SEARCH, lm_gain_limit=0.75, lm_history_beam=2.0)
    held = OpenLms.of(folder, alike(tmp_path / "own", 12), config, CPU).hold(LAW)
    found = mix_of(held).search_lm(0.25)
    assert (found.gain_limit, found.history_beam, found.scale) == (0.75, 2.0, 0.25)


def test_a_change_under_way_leaves_what_was_held_where_it_fails(lms: OpenLms) -> None:
    stream, old, new = StreamLms(), lms.hold(LAW), lms.hold(LAW)
    stream.take(old, at_once=True)

    def fail() -> None:
        with stream.trying(new, at_once=True):
            assert stream.now is new
            raise InvalidStreamConfig("no")

    with pytest.raises(InvalidStreamConfig):
        fail()
    assert (stream.now, stream.next, new.mix) == (old, None, None)
    assert stream.searched is not None
    assert lms.count == 1
    stream.release()
    assert lms.count == 0


def test_a_stream_holds_what_searches_ask_for_no_longer_than_it_lasts(lms: OpenLms) -> None:
    held = lms.hold(LAW)
    held.release()
    assert held.searched is None


def test_models_are_described_as_searched(lms: OpenLms) -> None:
    [law] = lms.descriptions()
    assert law.searched
    assert law.subtracts


@pytest.mark.parametrize("config", [GraphSearchConfig(), IN_SEARCH])
def test_a_graph_that_holds_its_words_is_searched_either_way(
    tmp_path: Path, config: GraphSearchConfig
) -> None:
    check_lm_in_search(config, alike(tmp_path / "own", 12))


def test_a_graph_without_its_n_grams_is_refused_where_searches_are_to_ask(tmp_path: Path) -> None:
    without = alike(tmp_path / "own", 12, with_small=False)
    check_lm_in_search(GraphSearchConfig(), without)
    with pytest.raises(UnusableGraph, match="does not hold its n-grams"):
        check_lm_in_search(IN_SEARCH, without)
    with pytest.raises(UnusableGraph, match="does not hold its n-grams"):
        OpenLms.of(tmp_path, without, IN_SEARCH, CPU)


def test_a_graph_of_too_long_n_grams_or_too_many_words_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = alike(tmp_path / "own", 12)
    long = write_lm(
        tmp_path / "long.lm", {**TENANT, **{" ".join("一" * n): 0.5 for n in range(2, 6)}}
    )
    with pytest.raises(UnusableGraph, match="of order 5, lm_in_search takes 4"):
        check_lm_in_search(IN_SEARCH, replace(graph, small_lm=LmImage(long)))
    monkeypatch.setattr(searched_lms, "MAX_WORDS", 3)
    with pytest.raises(UnusableGraph, match="4 words, lm_in_search takes 3"):
        check_lm_in_search(IN_SEARCH, graph)


def test_no_graph_is_refused() -> None:
    with pytest.raises(InvalidEngineConfig, match="searches no decoding graph"):
        check_lm_in_search(IN_SEARCH, None)


def test_searches_are_asked_of_no_folder_in_vain() -> None:
    with pytest.raises(InvalidEngineConfig, match=r"no folder of models \(lm_dir\)"):
        EngineConfig(graph_search=IN_SEARCH)


@pytest.mark.parametrize("name", ["lm_gain_limit", "lm_history_beam"])
@pytest.mark.parametrize("value", [-0.1, float("nan")])
def test_limits_of_a_search_with_models_are_not_negative(name: str, value: float) -> None:
    with pytest.raises(InvalidEngineConfig, match=name):
        GraphSearchConfig(**{name: value})


def test_models_are_opened_where_the_search_is(
    tmp_path: Path, folder: Path, emulated: torch.device
) -> None:
    """The engine does not wait for that, and searches there as on a CPU."""
    graph = alike(tmp_path / "own", 12)
    said = []
    for device in (CPU, emulated):
        held = OpenLms.of(folder, graph, IN_SEARCH, device).hold(LAW)
        assert held.searched is not None
        lm = held.searched.search_lm(1.0)
        assert all(each._placed for each in (lm.small, *lm.large))
        search = WfstSearch(graph, SIZES, 1, device)
        search.set_lm(0, lm)
        frames = torch.randn(1, 6, 12, generator=torch.Generator().manual_seed(3)).log_softmax(-1)
        search.advance(torch.tensor([0]), frames.to(device), torch.tensor([6]))
        said.append((search.best(torch.tensor([0])), search.nbest([0], 10)))
    assert said[0] == said[1]


@pytest.mark.parametrize("size", [-1, 16_385])
def test_a_cache_of_no_size_is_refused(size: int) -> None:
    with pytest.raises(InvalidEngineConfig, match=f"lm_cache_mb is {size}, must be 0 to 16384"):
        GraphSearchConfig(lm_cache_mb=size)
