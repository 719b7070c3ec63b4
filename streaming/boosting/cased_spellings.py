"""Capitals in which a model may write a phrase, whatever those of the request.

What a search counts in are a model's own tokens. Of a model that writes capitals itself those of
"acme", "Acme" and "ACME" are others, and which of them it writes depends on the sentence.
"""

from collections.abc import Iterator

from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.tokenizer import Tokenizer

Tokens = tuple[int, ...]


def cased_spellings(phrase: str, tokenizer: Tokenizer) -> Iterator[Tokens]:
    """The phrase's tokens in small letters, as a sentence begins, as a name, and in capitals.

    None by a model without case, whose tokens are the same ones or do not exist.
    """
    if tokenizer.is_cased:
        for spelling in (phrase.lower(), _begun(phrase), _named(phrase), phrase.upper()):
            try:
                yield tuple(tokenizer.encode(spelling))
            except UnencodableText:
                continue


def _begun(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:].lower()


def _named(phrase: str) -> str:
    return " ".join(map(_begun, phrase.split()))
