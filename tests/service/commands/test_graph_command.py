"""`earshot graph`, with the bundled model's units and language models of a few words."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import kaldifst
import numpy as np
import pytest
from knock_recognizer import loaded_knocks
from nemo_writer import options, write_archive

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.graph_file import read_graph, write_graph
from earshot.language.g2p.lexicon import LEXICON_FILE, write_lexicon_text
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.units import CtcUnits, UnitTable
from earshot.service.commands.cli import main

ARPA = """\\data\\
ngram 1=6
ngram 2=2

\\1-grams:
-99 <s> -0.5
-1 </s>
-2 <unk>
-0.5 play -0.25
-0.75 music -0.25
-1 ζ -0.25

\\2-grams:
-0.25 <s> play
-0.5 play music

\\end\\
"""


@pytest.fixture
def lm(tmp_path: Path) -> Path:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA, encoding="utf-8")
    return path


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    return tmp_path / "lm.graph"


def graph(*words: object) -> int:
    return main(["graph", *map(str, words)])


def test_build_writes_a_graph_for_the_bundled_model(capsys, lm, compiled) -> None:
    assert graph("build", "--lm", lm, "--out", compiled) == 0
    built = read_graph(compiled)
    built.require_units(load_model(bundled_model_dir()).ctc.phone_symbols)
    assert list(built.word_texts) == ["<eps>", "play", "music"]
    captured = capsys.readouterr()
    assert f"arcs                 {built.num_arcs}\n" in captured.out
    assert "left out for want of a spelling: ζ (1 words)\n" in captured.err


@pytest.mark.parametrize("topology", ["normal", "explicit-compact", "explicit-normal"])
def test_build_knows_all_topologies(lm, compiled, topology: str) -> None:
    assert graph("build", "--lm", lm, "--out", compiled, "--topology", topology) == 0
    assert read_graph(compiled).topology == topology.split("-")[0]


def test_build_rounds_costs_to_the_step_asked_for(lm, compiled) -> None:
    assert graph("build", "--lm", lm, "--out", compiled) == 0
    exact = read_graph(compiled).weights
    assert graph("build", "--lm", lm, "--out", compiled, "--cost-step", 0.125) == 0
    rounded = read_graph(compiled).weights
    assert np.all(rounded * 8 == np.round(rounded * 8))
    assert not np.all(exact * 8 == np.round(exact * 8))


def test_build_puts_the_language_model_into_the_graph_unless_it_is_to_be_without(
    capsys, lm, compiled
) -> None:
    assert graph("build", "--lm", lm, "--out", compiled) == 0
    small_lm = read_graph(compiled).small_lm
    assert small_lm is not None
    assert small_lm.order == 2
    count = small_lm.header.num_ngrams
    assert f"small lm ngrams      {count}\n" in capsys.readouterr().out
    assert graph("build", "--lm", lm, "--out", compiled, "--no-small-lm") == 0
    assert read_graph(compiled).small_lm is None


@pytest.mark.parametrize("step", ["0", "-1", "0.5", "nan"])
def test_build_refuses_a_step_that_is_none(capsys, lm, compiled, step: str) -> None:
    assert graph("build", "--lm", lm, "--out", compiled, f"--cost-step={step}") == 2
    assert f"build: a step of {float(step):g} nats is no power of two" in capsys.readouterr().err
    assert not compiled.exists()


def test_build_of_some_words_says_which_are_missing(capsys, lm, compiled, tmp_path) -> None:
    (tmp_path / "words.txt").write_text("music 1\n\nflowers\n")
    words = ["--words", tmp_path / "words.txt"]
    assert graph("build", "--lm", lm, "--out", compiled, *words) == 0
    assert list(read_graph(compiled).word_texts) == ["<eps>", "music"]
    said = capsys.readouterr().err
    assert "in --words, but not in the language model: flowers (1 words)" in said


def test_no_input_is_overwritten(capsys, lm) -> None:
    assert graph("build", "--lm", lm, "--out", lm) == 2
    assert "is an input, and would be lost" in capsys.readouterr().err
    assert lm.read_text(encoding="utf-8") == ARPA


@pytest.mark.parametrize("build", ["graph", "lm"])
def test_a_pipe_is_not_replaced(capsys, lm, tmp_path, build: str) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    words = {"graph": ["--lm", lm], "lm": [lm, "--as-is"]}[build]
    assert main([build, "build", *map(str, words), "--out", str(pipe)]) == 2
    assert f"--out {pipe} is no regular file" in capsys.readouterr().err
    assert pipe.is_fifo()


def test_build_takes_spellings_from_a_lexicon(lm, compiled, tmp_path) -> None:
    (tmp_path / "lexicon.txt").write_text("ζ z e e\nplay p l e\n")
    lexicon = ["--lexicon", tmp_path / "lexicon.txt", "--units", "tokens"]
    assert graph("build", "--lm", lm, "--out", compiled, *lexicon) == 0
    built = read_graph(compiled)
    assert list(built.word_texts) == ["<eps>", "play", "ζ"]
    ids = load_tokenizer(bundled_model_dir()).units.ids
    assert set(built.labels.tolist()) == {0} | {ids[unit] + 1 for unit in "zeple"}


def test_a_model_of_characters_with_spaces_gets_its_separator(lm, compiled, monkeypatch) -> None:
    letters = sorted(set("playmusic"))
    table = UnitTable.parse(
        "".join(f"{s} {i}\n" for i, s in enumerate(["<blank>", "▁", *letters])), "units.txt"
    )
    loaded = SimpleNamespace(
        tokenizer=CharTokenizer(table),
        ctc=CtcUnits(blank_id=0),
    )
    monkeypatch.setattr(
        "earshot.models.checkpoints.checkpoint.load_model", lambda directory: loaded
    )
    assert graph("build", "--lm", lm, "--out", compiled) == 0
    assert table.ids["▁"] + 1 in read_graph(compiled).labels


class TestNemo:
    """A CTC head whose blank is no token, but the unit behind all of them."""

    @pytest.fixture
    def model(self, tmp_path) -> Path:
        return write_archive(tmp_path / "tiny.nemo", options("EncDecCTCModel"))

    @pytest.fixture
    def lm(self, lm: Path) -> Path:
        """Of words that the model's few characters can write, and one that they cannot."""
        lm.write_text(ARPA.replace("play", "abba").replace("music", "cab"), encoding="utf-8")
        return lm

    def test_a_graph_is_spelled_in_its_characters_with_its_space(self, lm, compiled, model) -> None:
        assert graph("build", "--lm", lm, "--out", compiled, "--model", model) == 0
        built = read_graph(compiled)
        built.require_units(["▁", "a", "b", "c", "'", "<blank>"])
        assert (built.vocab_size, built.blank_id) == (6, 5)
        assert sorted({int(label) for label in built.labels if label}) == [1, 2, 3, 4]

    def test_info_says_that_it_fits_the_archive(self, capsys, lm, compiled, model) -> None:
        assert graph("build", "--lm", lm, "--out", compiled, "--model", model) == 0
        assert graph("info", compiled, "--model", model) == 0
        assert "lm.graph fits the model" in capsys.readouterr().err

    def test_an_imported_graph_may_be_of_its_units(self, compiled, tmp_path, model) -> None:
        command = write_tlg(tmp_path, ["▁", "a", "b", "c", "'", "<blank>"], blank=6)
        assert graph(*command, "--out", compiled, "--model", model) == 0
        assert read_graph(compiled).blank_id == 5

    def test_a_transducer_alone_has_none(self, capsys, lm, compiled, model) -> None:
        write_archive(model, options("EncDecRNNTModel"))
        assert graph("build", "--lm", lm, "--out", compiled, "--model", model) == 2
        assert "the model tiny has no CTC head" in capsys.readouterr().err
        assert not compiled.exists()


@pytest.mark.parametrize("command", ["build", "info"])
def test_a_model_that_graphs_are_not_for_is_named(
    capsys, lm, compiled, monkeypatch, command
) -> None:
    assert graph("build", "--lm", lm, "--out", compiled) == 0
    loaded = loaded_knocks("door")
    monkeypatch.setattr(
        "earshot.models.checkpoints.checkpoint.load_model", lambda directory: loaded
    )
    asked = {
        "build": ["build", "--lm", lm, "--out", compiled.with_name("other.graph")],
        "info": ["info", compiled, "--model", "anywhere"],
    }
    assert graph(*asked[command]) == 2
    assert "no CTC head" in capsys.readouterr().err


class TestPhones:
    """Of a model that has them."""

    SYMBOLS = ("<blank>", "EY", "K", "L", "M", "P", "UW", "Y", "Z")

    @pytest.fixture(autouse=True)
    def model(self, monkeypatch, tmp_path) -> None:
        lexicon = "music M Y UW Z K\nplay P L EY\nplay P EY\n"
        loaded = SimpleNamespace(
            name="talker",
            tokenizer=load_tokenizer(bundled_model_dir()),
            ctc=CtcUnits(0, self.SYMBOLS[1:]),
            directory=tmp_path,
        )
        write_lexicon_text(tmp_path / LEXICON_FILE, lexicon)
        self.loaded = loaded
        monkeypatch.setattr(
            "earshot.models.checkpoints.checkpoint.load_model", lambda directory: loaded
        )

    def test_words_are_spelled_in_them_by_the_models_lexicon(self, capsys, lm, compiled) -> None:
        assert graph("build", "--lm", lm, "--out", compiled) == 0
        built = read_graph(compiled)
        built.require_units(self.SYMBOLS)
        assert sorted({int(label) for label in built.labels if label}) == list(range(2, 10))
        assert "for want of a spelling: ζ" in capsys.readouterr().err

    def test_or_by_another_lexicon(self, lm, compiled, tmp_path) -> None:
        (tmp_path / "lexicon.txt").write_text("play EY P\n")
        lexicon = ["--lexicon", tmp_path / "lexicon.txt"]
        assert graph("build", "--lm", lm, "--out", compiled, *lexicon) == 0
        assert sorted({int(label) for label in read_graph(compiled).labels if label}) == [2, 6]

    def test_or_in_tokens_where_they_are_asked_for(self, lm, compiled) -> None:
        assert graph("build", "--lm", lm, "--out", compiled, "--units", "tokens") == 0
        read_graph(compiled).require_units(self.loaded.tokenizer.units.symbols)

    def test_info_says_in_which_units_a_graph_is_spelled(self, capsys, lm, compiled) -> None:
        for units in ("phones", "tokens"):
            graph("build", "--lm", lm, "--out", compiled, "--units", units)
            assert graph("info", compiled, "--model", "anywhere") == 0
            assert f"spelled in its {units}" in capsys.readouterr().err

    def test_without_a_lexicon_there_is_no_graph(self, capsys, lm, compiled) -> None:
        self.loaded.directory = None
        assert graph("build", "--lm", lm, "--out", compiled) == 2
        assert "talker has phones and no lexicon" in capsys.readouterr().err
        assert not compiled.exists()

    def test_a_model_without_phones_is_named(self, capsys, lm, compiled) -> None:
        self.loaded.ctc = CtcUnits(blank_id=0)
        assert graph("build", "--lm", lm, "--out", compiled, "--units", "phones") == 2
        assert "talker has no phones" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("--lm", "missing.arpa"), "missing.arpa: cannot be read"),
        (("--model", "missing"), "there is no model missing"),
        (("--out", "missing/lm.graph"), "--out missing/lm.graph"),
        (("--words", "missing.txt"), "--words missing.txt cannot be read"),
        (("--lexicon", "missing.txt"), "missing.txt: cannot be read"),
    ],
)
def test_what_stands_in_the_way_is_one_line(capsys, lm, compiled, change, complaint: str) -> None:
    flags = dict([("--lm", lm), ("--out", compiled), change])
    assert graph("build", *(word for flag in flags.items() for word in flag)) == 2
    said = capsys.readouterr().err
    assert said.startswith("earshot graph: ")
    assert complaint in said
    assert said.count("\n") == 1
    assert not compiled.exists()


def test_a_fault_in_the_language_model_is_named_with_its_line(capsys, lm, compiled) -> None:
    lm.write_text(ARPA.replace("-0.5 play music", "-0.5 play tennis"))
    assert graph("build", "--lm", lm, "--out", compiled) == 2
    assert "lm.arpa, line 15: 'tennis' is not among the 1-grams" in capsys.readouterr().err


def test_info_describes_a_compiled_graph(capsys, lm, compiled) -> None:
    graph("build", "--lm", lm, "--out", compiled, "--topology", "explicit-normal")
    capsys.readouterr()
    assert graph("info", compiled, "--json") == 0
    about = json.loads(capsys.readouterr().out)
    kinds = [about[f"{kind}_arcs"] for kind in ("epsilon", "blank", "repeat", "token")]
    assert sum(kinds) == about["arcs"] == read_graph(compiled).num_arcs
    assert min(kinds) > 0
    assert (about["words"], about["units"], about["topology"]) == (2, 40, "explicit")
    assert (about["graph"], about["bytes"]) == (str(compiled), compiled.stat().st_size)
    assert about["takes_unknown_words"] is False


def test_info_checks_a_graph_against_a_model(capsys, lm, compiled, golden_dir) -> None:
    graph("build", "--lm", lm, "--out", compiled)
    capsys.readouterr()
    assert graph("info", compiled, "--model", bundled_model_dir()) == 0
    captured = capsys.readouterr()
    assert "takes unknown words  yes" in captured.out
    assert "fits the model" in captured.err
    assert graph("info", compiled, "--model", golden_dir / "u2pp_conformer") == 2
    assert "the graph was built for 40 units; the model has" in capsys.readouterr().err


def test_info_refuses_a_graph_that_no_search_takes(capsys, compiled) -> None:
    arcs = [Arc(0, 1, 1, 0.0, 1), Arc(1, 0, 0, 0.0, 2), Arc(2, 0, 0, 0.0, 1)]
    cycle = Graph.from_arcs(
        arcs, {1: 0.0}, 3, topology="explicit", vocab_size=2, word_texts=["<eps>", "a"]
    )
    write_graph(compiled, cycle)
    assert graph("info", compiled) == 2
    assert "epsilon arcs form a cycle" in capsys.readouterr().err


def test_info_refuses_what_is_no_compiled_graph(capsys, lm) -> None:
    assert graph("info", lm) == 2
    assert "lm.arpa is not a compiled graph" in capsys.readouterr().err


def write_tlg(folder: Path, units: Sequence[str], blank: int = 1) -> list[object]:
    """Kaldi's files for one word of two units; the command that imports them."""
    arcs = f"0 0 {blank} 0\n0 1 4 1 0.5\n1 1 4 0\n1 0 0 0\n0\n"
    kaldifst.compile(arcs).write(str(folder / "TLG.fst"))
    (folder / "words.txt").write_text("<eps> 0\nplay 1\n")
    tokens = ["<eps>", *units, "#0"]
    (folder / "tokens.txt").write_text("".join(f"{t} {i}\n" for i, t in enumerate(tokens)))
    return ["import", folder / "TLG.fst"]


@pytest.mark.parametrize("kind", ["tokens", "phones"])
def test_import_compares_units_with_the_models(capsys, compiled, tmp_path, kind) -> None:
    loaded = load_model(bundled_model_dir())
    symbols = {
        "tokens": loaded.tokenizer.units.symbols,
        "phones": loaded.ctc.phone_symbols,
    }
    command = [
        *write_tlg(tmp_path, symbols[kind]),
        "--out",
        compiled,
        "--model",
        bundled_model_dir(),
    ]
    assert graph(*command, "--units", kind) == 0
    read_graph(compiled).require_units(symbols[kind])
    assert graph(*command) == (0 if kind == "phones" else 2)
    if kind == "tokens":
        assert "has 162 units, the model 40" in capsys.readouterr().err


def test_import_names_the_graph_that_is_not_there(capsys, compiled, tmp_path) -> None:
    words = ["graph", "import", str(tmp_path / "nosuch.fst"), "--out", str(compiled)]
    assert main(words) == 2
    assert "import: nosuch.fst: No such file" in capsys.readouterr().err


def test_import_reads_kaldis_files(capsys, compiled, tmp_path) -> None:
    units = load_tokenizer(bundled_model_dir()).units.symbols
    command = [*write_tlg(tmp_path, units), "--out", compiled]
    assert graph(*command) == 0
    assert read_graph(compiled).num_nodes == 1
    (tmp_path / "tokens.txt").rename(tmp_path / "t.txt")
    assert graph(*command) == 2
    assert "tokens.txt: cannot be read" in capsys.readouterr().err
    assert graph(*command, "--tokens", tmp_path / "t.txt") == 0
    assert graph(*command, "--tokens", tmp_path / "t.txt", "--blank", "?") == 2
    assert "say which one is blank" in capsys.readouterr().err


def test_import_takes_a_compact_rule_out_of_the_arcs(capsys, compiled, tmp_path) -> None:
    units = load_tokenizer(bundled_model_dir()).units.symbols
    command = [*write_tlg(tmp_path, units), "--out", compiled]
    assert graph(*command) == 0
    told = capsys.readouterr()
    assert "the compact CTC rule is left to the search" in told.err
    assert re.search("takes unknown words +yes", told.out)
    assert (read_graph(compiled).topology, read_graph(compiled).num_arcs) == ("compact", 1)
    assert graph(*command, "--topology", "explicit") == 0
    assert (read_graph(compiled).topology, read_graph(compiled).num_arcs) == ("explicit", 4)


def test_import_says_why_a_graph_stays_explicit(capsys, compiled, tmp_path) -> None:
    units = load_tokenizer(bundled_model_dir()).units.symbols
    command = [*write_tlg(tmp_path, units), "--out", compiled]
    kaldifst.compile("0 0 1 0\n0 1 4 1 0.5\n1 0 0 0\n0\n").write(str(tmp_path / "TLG.fst"))
    assert graph(*command) == 0
    assert "its CTC rule is not the compact one: a unit cannot be held" in capsys.readouterr().err
    assert (read_graph(compiled).topology, read_graph(compiled).num_arcs) == ("explicit", 3)
