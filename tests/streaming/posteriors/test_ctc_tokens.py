"""Tokens of other people's models, and graphs of them."""

import math

import pytest
import torch

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.models.errors import TokenizerError
from earshot.streaming.posteriors.ctc_decoder import CtcDecoder
from earshot.streaming.posteriors.ctc_tokens import CtcTokens
from earshot.streaming.posteriors.graph_build import build_graph

WAV2VEC2 = ["<pad>", "<s>", "</s>", "<unk>", "|", *"EHLOWRD"]
PIECES = ["<unk>", "▁hel", "lo", "▁wor", "ld"]
"""NeMo's: the blank is the column behind them."""
ARPA = """\\data\\
ngram 1=6

\\1-grams:
-99\t<s>
-1\t</s>
-1\t<unk>
-0.5\thello
-0.5\tworld
-2\tzebra

\\end\\
"""


@pytest.fixture
def lm(tmp_path):
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    return path


def saying(tokens, columns):
    """Log-probabilities `(1, T, V)` of these tokens, with a blank behind each."""
    frames = [column for each in columns for column in (each, tokens.blank_id)]
    logits = torch.zeros(len(frames), len(tokens.symbols))
    logits[range(len(frames)), frames] = 12.0
    return logits.log_softmax(-1)[None]


def test_letters_with_a_separator_spell_words_in_their_own_case(lm):
    tokens = CtcTokens(WAV2VEC2, separator="|")
    assert tokens.blank_id == 0
    built = build_graph(lm, tokens)
    assert built.unspelled == ("zebra",)
    decoder = CtcDecoder(built.graph, tokens, device="cpu", threads=1)
    [result] = decoder.decode(saying(tokens, [WAV2VEC2.index(each) for each in "HELLO|WORLD"]))
    assert result.text == "hello world"
    assert [(word.start_frame, word.end_frame) for word in result.words] == [(0, 9), (12, 21)]


def test_pieces_by_a_function_and_a_blank_behind_them(lm, tmp_path):
    pieces = {"hello": [1, 2], "world": [3, 4], "zebra": [0]}
    tokens = CtcTokens(PIECES, blank=len(PIECES), encode=pieces.__getitem__)
    assert (tokens.blank_id, tokens.symbols[-1]) == (5, "<blank>")
    built = build_graph(lm, tokens, out=tmp_path / "lm.graph", words=["hello", "world", "no"])
    assert (built.unspelled, built.unknown) == ((), ("no",))
    read_graph(tmp_path / "lm.graph")
    decoder = CtcDecoder(tmp_path / "lm.graph", tokens, device="cpu", threads=1)
    assert decoder.decode(saying(tokens, [1, 2, 3, 4]))[0].text == "hello world"
    other = CtcTokens(PIECES[::-1], blank=len(PIECES), encode=pieces.__getitem__)
    with pytest.raises(Exception, match="built for other units"):
        CtcDecoder(tmp_path / "lm.graph", other, device="cpu")


def test_a_lexicon_may_have_several_spellings(lm, tmp_path):
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("hello H E L L O |\nworld W O R L D |\nworld W E R L D |\n")
    tokens = CtcTokens(WAV2VEC2, separator="|", lexicon=lexicon)
    assert len(tokens.spellings("world")) == 2
    assert tokens.spellings("zebra") == ()
    assert tokens.tokenizer.separator is None
    decoder = CtcDecoder(build_graph(lm, tokens).graph, tokens, device="cpu", threads=1)
    for said in ("HELLO|WORLD|", "HELLO|WERLD|"):
        columns = [WAV2VEC2.index(each) for each in said]
        assert decoder.decode(saying(tokens, columns))[0].text == "hello world"


@pytest.mark.parametrize("topology", ["compact", "normal"])
def test_a_letter_twice_needs_a_blank_where_the_rule_says_so(lm, topology):
    tokens = CtcTokens(WAV2VEC2, separator="|")
    graph = build_graph(lm, tokens, topology=topology, words=["hello"]).graph
    decoder = CtcDecoder(graph, tokens, device="cpu", threads=1)
    columns = [WAV2VEC2.index(each) for each in "HELLO"]
    rows = saying(tokens, columns)[:, [0, 1, 2, 3, 4, 6, 7, 8, 9]]  # L L
    [result] = decoder.decode(rows)
    assert result.score > -math.inf
    likely = result.score > -10.0
    assert likely == (topology == "compact")


@pytest.mark.parametrize(
    ("symbols", "options", "told"),
    [
        ([], {}, "none of <blank>"),
        (["a", "b"], {}, "say which is the blank"),
        (["a", "b"], {"blank": "<pad>"}, "no blank '<pad>'"),
        (["a", "b"], {"blank": 3}, "column 3, of 2 tokens"),
        (["a", "b", "a"], {"blank": 1}, "'a' is a duplicate"),
        (["<pad>", "a"], {"separator": "|"}, "no separator"),
        (["<pad>", "▁the"], {}, "say how words are spelled"),
    ],
)
def test_tokens_that_are_none_are_refused(symbols, options, told):
    with pytest.raises(TokenizerError, match=told):
        CtcTokens(symbols, **options)


def test_a_lexicon_of_other_tokens_is_refused_by_its_line(tmp_path):
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("hello H E L L O\nzoo Z O O\n")
    with pytest.raises(GraphSourceError, match="line 2: the model has no unit 'Z'"):
        CtcTokens(WAV2VEC2, lexicon=lexicon)


def test_words_whose_encoder_gives_no_text_have_no_spelling():
    for given in ([], [0], [99], [-1]):
        tokens = CtcTokens(PIECES, blank=5, encode=lambda word, given=given: given)
        assert tokens.spellings("hello") == ()
