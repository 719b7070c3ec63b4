"""The fields of log lines about streams."""

import pytest

from earshot.streaming.stream_name import NAMELESS, StreamName, fields_of

ONE, TWO = StreamName("one"), StreamName("two", 1)


@pytest.mark.parametrize(
    ("names", "fields"),
    [
        ([], {}),
        ([NAMELESS], {}),
        ([TWO], {"request_id": "two", "channel": 1}),
        ([NAMELESS, TWO], {"request_id": "two", "channel": 1}),
        ([ONE, TWO], {"request_ids": ["one", "two"]}),
        ([TWO, StreamName("two", 0)], {"request_ids": ["two"]}),
    ],
)
def test_a_line_names_all_streams_that_it_is_about(names, fields):
    assert fields_of(names) == fields
