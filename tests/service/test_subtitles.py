from earshot.service.subtitles import MAX_CUE_CHARS, MAX_CUE_S, cues, srt, vtt
from earshot.streaming.events import Alternative, Final, Word


def final(words, separator=" "):
    """A final of (text, start, end) words."""
    made = tuple(Word(text, start, end, 0.9) for text, start, end in words)
    text = separator.join(word.text for word in made)
    return Final(0.0, 1.0, (Alternative(text, made, 0.9, 0.0),), True, False, "end")


def test_an_utterance_is_a_cue():
    (cue,) = cues([final([("iced", 1.0, 1.4), ("tea", 1.5, 2.0)])])
    assert (cue.start_s, cue.end_s, cue.text) == (1.0, 2.0, "iced tea")


def test_long_utterances_are_cut_at_words():
    words = [(f"word{index:03d}", index * 0.2, index * 0.2 + 0.2) for index in range(100)]
    made = cues([final(words)])
    assert " ".join(cue.text for cue in made) == " ".join(word for word, _, _ in words)
    assert all(len(cue.text) <= MAX_CUE_CHARS for cue in made)
    assert all(cue.end_s - cue.start_s <= MAX_CUE_S + 1e-6 for cue in made)


def test_pauses_cut_too():
    made = cues([final([("one", 0.0, 0.5), ("two", 3.0, 3.5)])])
    assert [cue.text for cue in made] == ["one", "two"]


def test_text_without_spaces_keeps_having_none():
    (cue,) = cues([final([("你", 0.0, 0.2), ("好", 0.2, 0.4)], separator="")])
    assert cue.text == "你好"


def test_short_cues_stay_readable_but_never_overlap():
    made = cues([final([("a", 0.0, 0.1)]), final([("b", 0.3, 0.4)]), final([("c", 9.0, 9.1)])])
    assert [(cue.start_s, cue.end_s) for cue in made] == [(0.0, 0.3), (0.3, 0.8), (9.0, 9.5)]


def test_times_are_written_in_both_ways():
    finals = [final([("late", 3661.5, 3662.0)])]
    assert srt(finals) == "1\n01:01:01,500 --> 01:01:02,000\nlate\n"
    assert vtt(finals) == "WEBVTT\n\n01:01:01.500 --> 01:01:02.000\nlate\n"


def test_vtt_text_cannot_be_markup():
    assert "&lt;b&gt; &amp; --&gt;" in vtt(
        [final([("<b>", 0.0, 1.0), ("&", 1.0, 2.0), ("-->", 2, 3)])]
    )


def test_nothing_said_is_an_empty_file():
    assert (srt([]), vtt([])) == ("", "WEBVTT\n")


def test_cues_of_several_channels_say_which_and_may_overlap():
    said = [final([("one", 0.0, 2.0)]), final([("three", 4.0, 5.0)])]
    made = cues(said, [final([("two", 1.0, 3.0)])])
    assert [(cue.start_s, cue.end_s) for cue in made] == [(0.0, 2.0), (1.0, 3.0), (4.0, 5.0)]
    assert [cue.text for cue in made] == [
        "[channel 0] one",
        "[channel 1] two",
        "[channel 0] three",
    ]
