import pytest

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.units import CtcUnits, UnitTable

GOOD = "<blank> 0\n<unk> 1\nA 2\n▁ 3\n"


def test_reads_symbols_and_ids_both_ways(tmp_path):
    path = tmp_path / "units.txt"
    path.write_text(GOOD, encoding="utf-8")
    table = UnitTable.read(path)
    assert list(table.symbols) == ["<blank>", "<unk>", "A", "▁"]
    assert table.ids["▁"] == 3
    assert len(table) == 4
    assert table.to_text() == GOOD


def test_order_of_lines_does_not_matter():
    assert list(UnitTable.parse("B 1\nA 0\n", "t").symbols) == ["A", "B"]


def test_a_line_separator_can_be_a_symbol():
    assert len(UnitTable.parse("a 0\n\u2019 1\nb 2", "t")) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        ("A 0\nA 1\n", "line 2: 'A 1' is a duplicate"),
        ("A 0\nB 0\n", "line 2: 'B 0' is a duplicate"),
        ("A 0\nB 2\n", "none with id 1"),
        ("A 1\n", "none with id 0"),
        ("A 0 9\n", "line 1"),
        ("A\n", "line 1"),
        ("A x\n", "line 1"),
        ("A -1\n", "line 1"),
        ("A ²\n", "line 1"),
    ],
)
def test_a_broken_table_is_refused_and_the_place_named(text, message):
    with pytest.raises(TokenizerError, match=message) as caught:
        UnitTable.parse(text, "units.txt")
    assert "units.txt" in str(caught.value)


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(TokenizerError, match=r"units\.txt"):
        UnitTable.read(tmp_path / "units.txt")


def test_bytes_that_are_not_text_are_refused(tmp_path):
    path = tmp_path / "units.txt"
    path.write_bytes(b"\xff\xfe\x00 0\n")
    with pytest.raises(TokenizerError, match=r"units\.txt"):
        UnitTable.read(path)


@pytest.mark.parametrize(("blank_id", "symbols"), [(0, "_ab"), (2, "_ab"), (3, ("_", "a", "b"))])
def test_a_blank_behind_the_table_is_a_unit_of_the_head(blank_id, symbols):
    behind = ["<blank>"] if blank_id == 3 else []
    assert list(CtcUnits(blank_id).token_symbols(symbols)) == [*"_ab", *behind]
