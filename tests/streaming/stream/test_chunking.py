import pytest

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
