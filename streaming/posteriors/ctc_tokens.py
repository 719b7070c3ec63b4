"""The tokens of somebody's CTC model, and how words are spelled in them."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.language.graphs.build import Units
from earshot.language.graphs.lexicon import read_lexicon
from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.pieces import PieceTokenizer, is_mark
from earshot.models.tokenizers.units import BLANK, SPECIAL_SYMBOLS, UnitTable
from earshot.models.tokenizers.word_spans import WORD_START

FilePath: TypeAlias = str | PathLike[str]
Encode: TypeAlias = Callable[[str], Sequence[int]]

BLANKS = (BLANK, "<blk>", "<pad>", "[PAD]")
"""Names of the blank, looked for in this order where nobody says which token it is."""

SOURCE = "the list of tokens"


class CtcTokens:
    """What the columns of a CTC model's output stand for, and how words are spelled in them.

    symbols: the tokens by column, as WordPiece, sentencepiece or letters write them.
    blank: the blank's symbol or its column; the column behind the last symbol, as NeMo has it, too.
        If absent the first of `<blank>`, `<blk>`, `<pad>`, `[PAD]` that is there.
    separator: the token between words, such as `|` of a wav2vec2, for tokens that are letters.
    lexicon: a file with a word and its tokens on each line, several lines for several spellings.
        Where spaces are is then said by the spellings, and a separator is not put between them.
    encode: a word to the columns of its tokens, as a sentencepiece model's `encode`; asked for what
        the lexicon lacks. Without it and without a lexicon words are spelled letter by letter, in
        the case that the tokens have.

    Raises TokenizerError for symbols that are none, a blank or separator that is not there, and
    pieces of several letters that nobody says how to spell in; GraphSourceError for a lexicon that
    cannot be read.
    """

    def __init__(
        self,
        symbols: Sequence[str],
        *,
        blank: str | int | None = None,
        separator: str | None = None,
        lexicon: FilePath | None = None,
        encode: Encode | None = None,
    ) -> None:
        table, self.blank_id = _with_blank(list(symbols), blank)
        self.symbols = tuple(table)
        units = UnitTable.of(self.symbols, SOURCE)
        special = {*SPECIAL_SYMBOLS, *filter(_is_special, table), table[self.blank_id]}
        if separator is not None and separator not in units.ids:
            raise TokenizerError(f"{SOURCE} has no separator {separator!r}")
        writable = {symbol: unit for symbol, unit in units.ids.items() if symbol not in special}
        words = None if lexicon is None else read_lexicon(Path(lexicon), writable)
        if words is None and encode is None:
            _require_letters(writable)
        self.tokenizer = SpelledTokenizer(units, special, separator, words, encode)

    @property
    def units(self) -> Units:
        """The tokens as graphs are built of them."""
        return Units(self.symbols, self.blank_id, self.tokenizer.separator)

    def spellings(self, word: str) -> Sequence[Spelling]:
        """The columns of a word's tokens in each way to spell it; none where there is no way."""
        try:
            return self.tokenizer.spellings(word)
        except UnencodableText:
            return ()


class SpelledTokenizer(PieceTokenizer):
    """Spells words by a lexicon, by a function, or in letters."""

    def __init__(
        self,
        units: UnitTable,
        special: set[str],
        separator: str | None,
        lexicon: Mapping[str, Sequence[Spelling]] | None,
        encode: Encode | None,
    ) -> None:
        super().__init__(units, special)
        self._between = "" if separator is None else separator
        self._lexicon = lexicon
        self._encode = encode

    @property
    def separator(self) -> int | None:
        """The token between words, unless a lexicon says where spaces are."""
        return None if self._lexicon is not None else self.units.ids.get(self._between)

    def spellings(self, word: str) -> Sequence[Spelling]:
        """All spellings of a word, that of `encode` first. Raises UnencodableText for none."""
        if self._lexicon is not None and word in self._lexicon:
            return self._lexicon[word]
        if self._encode is not None:
            return [self._encoded(word, self._encode)]
        if self._lexicon is not None:
            raise UnencodableText(word, "the lexicon does not have it")
        return [tuple(super().encode(word))]

    def encode(self, text: str) -> list[int]:
        """The tokens of a word's first spelling. Raises UnencodableText for one without any."""
        return list(self.spellings(text)[0])

    def split(self, text: str) -> list[str]:
        """Letters, each run of spaces as one separator."""
        return list(self._between.join(text.split()))

    def save(self, directory: Path) -> None:
        """Writes units.txt; a lexicon and a function are whoever's they are."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")

    def _encoded(self, word: str, encode: Encode) -> Spelling:
        spelling = tuple(int(unit) for unit in encode(word))
        wrong = [unit for unit in spelling if not self._is_written(unit)]
        if wrong or not spelling:
            said = f"token {wrong[0]}, which is no text" if wrong else "no tokens"
            raise UnencodableText(word, f"its encoder gives {said}")
        return spelling

    def _is_written(self, unit: int) -> bool:
        return 0 <= unit < len(self.units) and unit not in self.silent_units


def _with_blank(symbols: list[str], blank: str | int | None) -> tuple[list[str], int]:
    """The symbols with the blank among them, and its place."""
    if blank is None:
        blank = next((each for each in BLANKS if each in symbols), None)
    if blank is None:
        raise TokenizerError(f"{SOURCE} has none of {', '.join(BLANKS)}: say which is the blank")
    if isinstance(blank, str):
        if blank not in symbols:
            raise TokenizerError(f"{SOURCE} has no blank {blank!r}")
        return symbols, symbols.index(blank)
    if not 0 <= blank <= len(symbols):
        raise TokenizerError(f"the blank is column {blank}, of {len(symbols)} tokens")
    return (symbols if blank < len(symbols) else [*symbols, BLANK]), blank


def _is_special(symbol: str) -> bool:
    """Whether a symbol is of the form `<unk>` or `[UNK]`."""
    return is_mark(symbol) or (len(symbol) > 2 and symbol[0] == "[" and symbol[-1] == "]")


def _require_letters(writable: Mapping[str, int]) -> None:
    piece = next((each for each in writable if len(each.replace(WORD_START, "")) > 1), None)
    if piece is not None:
        raise TokenizerError(
            f"{SOURCE} has pieces such as {piece!r}: say how words are spelled in them, by "
            "`encode` or by a lexicon"
        )
