"""The plot of boost weights against word error rates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.wfst.word_errors import WordErrors

Curve = Sequence[tuple[float, WordErrors]]  # by weight

COLOURS = ("#2a7f62", "#3b6fb6", "#c8553d", "#8a5fa8")  # what was said, the longer of it, what
# was not, and sequences of what was
SIZE_INCHES = (9.6, 3.6)
MOST_PERCENT = 60.0
"""Words that repeat without end have thousands, in which nothing else would be seen."""
STYLE = {
    "svg.hashsalt": "earshot",  # the same plot is the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plot_curves(path: Path, panels: Mapping[str, Mapping[str, Curve]], limit: float) -> None:
    """A panel for each rule, a curve for each list; ``limit`` is the most that a word can earn.

    Bands are intervals of 95 %.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axis, (title, curves) in zip(axes, panels.items(), strict=True):
            _panel(axis, title, curves, limit)
        axes[0].set_ylabel("word error rate, %")
        names = axes[0].get_legend_handles_labels()
        figure.legend(*names, frameon=False, loc="outside lower center", ncols=2)
        figure.savefig(path, metadata={"Date": None})


def _panel(axis: Axes, title: str, curves: Mapping[str, Curve], limit: float) -> None:
    for colour, (name, curve) in zip(COLOURS, curves.items(), strict=True):
        weights = [weight for weight, _ in curve]
        rates = [found.percent for _, found in curve]
        low = [found.percent - found.margin for _, found in curve]
        high = [found.percent + found.margin for _, found in curve]
        axis.fill_between(weights, low, high, color=colour, alpha=0.13, linewidth=0)
        axis.plot(weights, rates, color=colour, marker="o", markersize=3, label=name)
    axis.axvline(limit, color="0.6", linewidth=0.8, linestyle=":")
    axis.annotate(
        "the most within the limits", (limit, 0.01), (3, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="left", va="bottom", fontsize=7, color="0.45",
    )  # fmt: skip
    axis.set_title(title, loc="left")
    axis.set_xlabel("boost weight, nats per word")
    axis.set_ylim(0.0, MOST_PERCENT)
