"""A toy: a part of a model that shouts the first words of finals where a request asks for it.

Everything that it brings stands here: it lies beside the model as `shouting.txt`, which says how
many words it shouts, and has one request parameter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from earshot.streaming.engine.pulse import Beat
from earshot.streaming.parts.option import Option
from earshot.streaming.parts.part import Part
from earshot.streaming.results.retold import retold
from earshot.streaming.stream.lane import Ending


@dataclass(frozen=True)
class Shouting:
    """See `EndingStep`; it is its own description."""

    words: int

    def __call__(self, endings: Sequence[Ending], beat: Beat) -> None:
        for ending in endings:
            if ending.stream.config.parts.get("shout"):
                ending.scored = [
                    replace(each, hypothesis=retold(each.hypothesis, self._texts(each.hypothesis)))
                    for each in ending.scored
                ]

    def _texts(self, hypothesis) -> list[str]:
        texts = [word.text for word in hypothesis.words]
        return [text.upper() for text in texts[: self.words]] + texts[self.words :]


SHOUTING: Part[Shouting] = Part(
    name="shouting",
    title="shouting part",
    file="shouting.txt",
    help="file that says how many words are shouted, or none",
    load=lambda path, device: int(path.read_text()),
    fit=lambda words, parts: Shouting(words),
    describe=lambda shouting: shouting,
    parameters=(Option("shout", "boolean", ("parts", "shout")),),
    tagger=lambda shouting: shouting,
)
