"""The description of a language model that clients may name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from earshot.decoder_kernels.lm.lm_header import NO_WORD

if TYPE_CHECKING:
    from earshot.decoder_kernels.graph.graph import Graph
    from earshot.decoder_kernels.lm.lm_image import LmImage
    from earshot.streaming.language_models.lm_folder import LmFile

_LOOKED_FOR = 1024
"""Words at a time."""


@dataclass(frozen=True)
class LmDescription:
    """missing: words of the decoding graph that the model lacks; None where there is no graph.

    subtracts: whether it takes the place of the graph's own model in the scores of finals; else it
    is added to that. searched: whether the search itself asks it; else it ranks what was found.
    classes: of words, of which a request may give members.
    """

    name: str
    order: int
    ngrams: int
    words: int
    bytes: int
    missing: int | None
    subtracts: bool
    searched: bool
    classes: tuple[str, ...] = ()


class GraphTexts:
    """The texts of a decoding graph's words, which take long to read, for one look at many models.

    They are as large as the graph's vocabulary: nobody keeps them after the look.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _texts(self) -> list[str]:
        return list(self._graph.word_texts[1:])

    @cached_property
    def _known(self) -> frozenset[bytes]:
        return frozenset(text.encode() for text in self._texts)

    def missing_in(self, image: LmImage) -> int:
        """How many of them a model lacks; the smaller vocabulary is looked through."""
        if image.header.words < len(self._texts):
            own = {image.native.text_of(word) for word in range(image.header.words)}
            return len(self._known - own)
        return int(np.count_nonzero(image.find_words(self._texts) == NO_WORD))


def knows_a_word(image: LmImage, texts: Sequence[str]) -> bool:
    """Whether the model has one of a graph's words; few are looked for where it has many."""
    return any(
        np.any(image.find_words(texts[start : start + _LOOKED_FOR]) != NO_WORD)
        for start in range(1, len(texts), _LOOKED_FOR)
    )


def described(
    file: LmFile, graph: Graph | None, words: GraphTexts | None, *, in_search: bool
) -> LmDescription:
    """The description; its words are looked for in the file. Raises LmImageError.

    words: of the graph. in_search: whether models are asked by searches that can.
    """
    from earshot.decoder_kernels.lm.lm_image import LmImage
    from earshot.decoder_kernels.lm.word_classes import image_classes
    from earshot.decoder_kernels.wfst.search_lm import MAX_ORDER

    image = LmImage(file.path)
    header = image.header
    return LmDescription(
        name=file.name,
        order=header.order,
        ngrams=header.num_ngrams,
        words=header.words,
        bytes=header.file_size,
        missing=None if words is None else words.missing_in(image),
        subtracts=graph is not None and graph.small_lm is not None,
        searched=in_search and header.order <= MAX_ORDER,
        classes=tuple(image_classes(image)),
    )
