"""How GPT-2 writes bytes in its vocabulary: each as one letter that can be seen.

Printable bytes of Latin-1 stand for themselves, the others for letters from U+0100 on, in order.
"""

from __future__ import annotations

from earshot.models.errors import TokenizerError, quote

PRINTABLE = (*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256))
_OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
SYMBOLS = {
    **{byte: chr(byte) for byte in PRINTABLE},
    **{byte: chr(256 + place) for place, byte in enumerate(_OTHERS)},
}
"""The letter of each byte."""
_BYTES = {symbol: byte for byte, symbol in SYMBOLS.items()}


def to_bytes(token: str) -> bytes:
    """The bytes of a token of the vocabulary. Raises TokenizerError for other letters."""
    try:
        return bytes(map(_BYTES.__getitem__, token))
    except KeyError as error:
        raise TokenizerError(f"the token {quote(token)} is not written as bytes are") from error
