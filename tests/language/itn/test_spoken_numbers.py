from earshot.language.itn.spoken_numbers import number_runs


def runs(text):
    """The runs as words."""
    words = text.split()
    return [" ".join(words[run.first : run.stop]) for run in number_runs(words)]


def test_neighbours_are_one_run():
    assert runs("call five five five now two") == ["five five five", "two"]


def test_an_ordinal_ends_a_run():
    assert runs("may fifth nineteen ninety eight") == ["fifth", "nineteen ninety eight"]


def test_plurals_and_large_scales_are_no_numbers():
    assert runs("twenty million in the fifties and hundreds") == ["twenty"]


def test_an_empty_word_is_part_of_none():
    runs_found = number_runs(["twenty", "", "five"])
    assert [(run.first, run.stop) for run in runs_found] == [(0, 1), (2, 3)]
