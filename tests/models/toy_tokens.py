"""A tokenizer of a few words, some in two tokens, for tests."""

from collections.abc import Sequence

PIECES = [
    "", "<start>", "<plain>", ",", ".", "?", " red", " Red", " blue", " Blue", " green", " Green",
    "ish", "s", " 14", " Mr", " i", " I", " it", " It", "'s", "(",
]  # fmt: skip
END, PROMPT = 0, (1, 2)


class ToyTokens:
    """Longest match first; see `TextTokens`."""

    def encode(self, text: str) -> list[int]:
        found: list[int] = []
        while text:
            token = max(
                (n for n, piece in enumerate(PIECES) if piece and text.startswith(piece)),
                key=lambda n: len(PIECES[n]),
            )
            found.append(token)
            text = text[len(PIECES[token]) :]
        return found

    def piece(self, token: int) -> bytes:
        return b"" if token < 3 else PIECES[token].encode()

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(PIECES[token] for token in tokens)
