import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.fastconformer.subsampling import ConvSubsampling
from earshot.streaming.stream.chunking import Chunking, Cut

CONV2D = Chunking(chunk_size=16, rate=4, right_context=6, feature_ms=10.0)


def test_windows_are_wenets():
    assert CONV2D.window == 67
    assert CONV2D.frame_ms == 40.0
    assert Chunking(16, 6, 10, 10.0).window == 101


@pytest.mark.parametrize(
    ("available", "ended", "cut"),
    [
        (66, False, None),
        (67, False, Cut(67, 16, last=False)),
        (500, False, Cut(67, 16, last=False)),
        (67, True, Cut(67, 16, last=True)),
        (70, True, Cut(67, 16, last=True)),
        (71, True, Cut(67, 16, last=False)),
        (66, True, Cut(66, 15, last=True)),
        (7, True, Cut(7, 1, last=True)),
        (6, True, Cut(0, 0, last=True)),
        (0, True, Cut(0, 0, last=True)),
    ],
)
def test_a_cut_takes_what_there_is(available, ended, cut):
    assert CONV2D.cut(available, ended) == cut


@pytest.mark.parametrize("chunking", [CONV2D, Chunking(4, 6, 10, 10.0), Chunking(8, 8, 14, 10.0)])
@pytest.mark.parametrize("total", range(0, 400, 7))
def test_chunks_give_as_many_frames_as_the_whole(chunking, total):
    frames = 0
    while True:
        cut = chunking.cut(total - frames * chunking.rate, ended=True)
        frames += cut.frames
        if cut.last:
            break
    whole = (total - chunking.right_context - 1) // chunking.rate + 1
    assert frames == max(whole, 0)


def stem_of(factor: int, causal: bool) -> ConvSubsampling:
    return ConvSubsampling(
        FastConformerConfig(
            features_size=4,
            size=4,
            layers=1,
            heads=1,
            feed_forward_size=4,
            stem_channels=1,
            subsampling_factor=factor,
            causal_stem=causal,
        )
    )


STEMS = {(factor, causal): stem_of(factor, causal) for factor in (4, 8) for causal in (True, False)}
stems = st.sampled_from(list(STEMS))


def chunking_of(kind: tuple[int, bool], chunk: int, right: int) -> Chunking:
    """Whose windows are heard with so many frames behind them; none of a stem that is causal."""
    stem, (_, causal) = STEMS[kind], kind
    after = 0 if causal else (right + 1) * stem.rate - 1
    return Chunking(chunk, stem.rate, after, 10.0, stem.window_before, stem.frames_ahead)


def cuts_of(chunking: Chunking, arrivals: list[int]) -> list[tuple[int, Cut]]:
    """All cuts with their places, where so many feature frames come one after another."""
    cuts: list[tuple[int, Cut]] = []
    total = place = 0
    for number, count in enumerate(arrivals, start=1):
        total += count
        while cut := chunking.cut(total - place, ended=number == len(arrivals)):
            cuts.append((place, cut))
            place += cut.frames * chunking.rate
            if cut.last:
                break
    return cuts


arrivals_of = st.lists(st.integers(0, 120), min_size=1, max_size=6).filter(any)


@given(stems, st.integers(1, 20), st.integers(0, 3), arrivals_of)
def test_an_encoder_that_closes_itself_gives_as_many_frames_as_of_the_whole(
    kind: tuple[int, bool], chunk: int, right: int, arrivals: list[int]
) -> None:
    cuts = [cut for _, cut in cuts_of(chunking_of(kind, chunk, right), arrivals)]
    whole = STEMS[kind].encoded_length(torch.tensor(sum(arrivals)))
    assert sum(cut.frames for cut in cuts) == int(whole)
    assert [cut.last for cut in cuts] == [False] * (len(cuts) - 1) + [True]


@given(stems, st.integers(1, 20), st.integers(0, 3), arrivals_of)
def test_no_window_reaches_behind_the_end(
    kind: tuple[int, bool], chunk: int, right: int, arrivals: list[int]
) -> None:
    total = sum(arrivals)
    for place, cut in cuts_of(chunking_of(kind, chunk, right), arrivals):
        assert 0 <= cut.window <= max(total - place, 0)


@given(stems, st.integers(1, 20), st.integers(0, 3), arrivals_of)
def test_all_that_a_frame_hears_is_in_its_window_or_before_it(
    kind: tuple[int, bool], chunk: int, right: int, arrivals: list[int]
) -> None:
    chunking, stem = chunking_of(kind, chunk, right), STEMS[kind]
    heard = stem.window_size(1) - stem.window_before
    for place, cut in cuts_of(chunking, arrivals):
        hearing = (cut.frames - 1) * chunking.rate + heard if cut.frames else 0
        assert cut.window >= min(hearing, max(sum(arrivals) - place, 0))


def test_a_window_before_the_end_of_audio_has_its_whole_context() -> None:
    chunking = chunking_of((8, True), 4, 0)
    assert chunking.left_context + chunking.window == STEMS[8, True].window_size(4)
    assert chunking.cut(chunking.window - 1, ended=False) is None
    assert chunking.cut(chunking.window, ended=False) == Cut(chunking.window, 4, last=False)


def test_a_frame_may_lie_behind_the_end() -> None:
    chunking = chunking_of((8, True), 4, 0)
    assert chunking.cut(-6, ended=True) == Cut(0, 1, last=True)
    assert chunking.cut(-7, ended=True) == Cut(0, 0, last=True)
    assert chunking.cut(26, ended=True) == Cut(25, 4, last=False)
    assert chunking.cut(25, ended=True) == Cut(25, 4, last=True)
