"""A byte-level BPE cut down to some of its tokens, which write every text, in more tokens.

A token is kept with all that it is merged from, and the 256 bytes always are: so a word of kept
tokens falls into the tokens that it fell into before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from earshot.models.errors import TokenizerError
from earshot.models.whisper_tokenizer.byte_symbols import SYMBOLS
from earshot.models.whisper_tokenizer.files import TokenTables


def fewer_tokens(
    tables: TokenTables, count: int, wanted: Iterable[int], special: Sequence[int]
) -> TokenTables:
    """`count` tokens in their old order, and after them the special ones as they are given.

    wanted: who is kept if there is room, the first ones first. Raises TokenizerError for fewer
    tokens than there are bytes, or more than are wanted.
    """
    kept = _kept(tables, count, wanted)
    if count < len(kept):
        raise TokenizerError(f"{count} tokens are fewer than there are bytes")
    if count > len(kept):
        raise TokenizerError(f"{count} tokens are more than the {len(kept)} there are")
    in_order = sorted(kept, key=lambda text: tables.vocabulary[text])
    merges = [pair for pair in tables.merges if {*pair, "".join(pair)} <= kept]
    names = {token: text for text, token in tables.special.items()}
    return TokenTables(
        {text: number for number, text in enumerate(in_order)},
        merges,
        {names[token]: count + place for place, token in enumerate(special)},
    )


def _kept(tables: TokenTables, count: int, wanted: Iterable[int]) -> set[str]:
    """Texts of the bytes, and of wanted tokens with what they are merged from."""
    parts = {"".join(pair): pair for pair in tables.merges}
    texts = {token: text for text, token in tables.vocabulary.items()}
    kept = set(SYMBOLS.values())
    for token in wanted:
        if len(kept) >= count:
            break
        needed, open_texts = set[str](), [texts[token]]
        while open_texts:
            text = open_texts.pop()
            if text not in kept and text not in needed:
                needed.add(text)
                open_texts += parts.get(text, ())
        if len(kept) + len(needed) <= count:
            kept |= needed
    return kept
