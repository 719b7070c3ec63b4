"""Which of a model's languages is meant by the one that somebody asks for."""

from collections.abc import Sequence


def served_tag(asked: str, served: Sequence[str]) -> str | None:
    """The tag of ``served`` that is ``asked``, else the first of the same language; None of none.

    Tags are BCP 47's, in any case, and may be written with `_`: a model of `en-US` serves `en_gb`.
    """
    same = (tag for tag in served if _folded(tag) == _folded(asked))
    like = (tag for tag in served if _primary(tag) == _primary(asked))
    return next(same, None) or next(like, None)


def _folded(tag: str) -> str:
    return tag.lower().replace("_", "-")


def _primary(tag: str) -> str:
    return _folded(tag).partition("-")[0]
