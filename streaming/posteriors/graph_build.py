"""A decoding graph of somebody's tokens and an ARPA file."""

from collections.abc import Sequence
from pathlib import Path

from earshot.decoder_kernels.graph.graph_file import write_graph
from earshot.language.graphs import build
from earshot.streaming.posteriors.ctc_tokens import CtcTokens, FilePath


def build_graph(
    lm: FilePath,
    tokens: CtcTokens,
    *,
    out: FilePath | None = None,
    words: Sequence[str] | None = None,
    topology: build.GraphForm = "compact",
) -> build.Build:
    """Compose an n-gram with the spellings of its words, as `earshot graph build` does.

    lm: a back-off n-gram in the ARPA format, plain or gzipped.
    out: a file to write the graph to; a name that ends in `.xz` packs it.
    words: build only these words of the n-gram.
    topology: whether the same token twice in a row needs a blank between (`normal`, the rule that
        CTC is trained with) or not (`compact`); see docs/graphs.md.

    What is returned holds the `graph`, and words that are not in it: `unspelled`, for want of a
    spelling, and `unknown`, asked for that the n-gram lacks.

    Raises GraphError: a file that cannot be used, no word that can be spelled, kaldifst missing
    (`pip install 'earshot-asr[graph]'`); LmImageError.
    """
    done = build.build_graph(Path(lm), tokens.spellings, tokens.units, form=topology, only=words)
    if out is not None:
        write_graph(Path(out), done.graph)
    return done
