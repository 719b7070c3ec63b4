"""Lattices of words, and how Kaldi writes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.streaming.errors import InvalidStreamConfig

FRAME = "1"
"""In place of a transition: the search does not tell which token an arc had in a frame."""


@dataclass(frozen=True, eq=False)
class CtcLattice:
    """Alternatives as a graph of words with times; see `WordLattice`.

    arcs: its arrays. texts: of the words in it, by the graph's ids; those above the graph's are
    words that boosts brought along.
    """

    arcs: WordLattice
    texts: Mapping[int, str]

    def to_kaldi_text(self, key: str, *, with_texts: bool = False) -> str:
        """The lattice as Kaldi writes a `CompactLattice` in a text archive (`ark,t`).

        key: the utterance's name. with_texts: words in place of their ids, as `int2sym.pl -f 3`
        makes them.

        An arc has a word, or 0 before the first; its whole cost in nats in the place of the graph's
        cost, and 0 in that of the acoustic cost, which the search does not part; and a `1` for each
        frame that it lasts, so that Kaldi's tools find times. The last state is final.

        Raises InvalidStreamConfig for a key that is empty or has spaces.
        """
        if not key or len(key.split()) != 1 or key != key.strip():
            raise InvalidStreamConfig(f"{key!r} is no key of an archive: it is one word")
        lines = [f"{key} ", *self._lines(with_texts), str(self.arcs.num_nodes - 1), "", ""]
        return "\n".join(lines)

    def _lines(self, with_texts: bool) -> Iterator[str]:
        arcs = self.arcs
        frames = arcs.frames.tolist()
        columns = (arcs.sources, arcs.targets, arcs.words, arcs.costs)
        for source, target, word, cost in zip(*(c.tolist() for c in columns), strict=True):
            label = self.texts[word] if with_texts else str(word)
            lasts = "_".join([FRAME] * (frames[target] - frames[source]))
            yield f"{source}\t{target}\t{label}\t{cost:.9g},0,{lasts}"
