"""Members of the classes of a language model, as a request gives them (`word_classes`).

A member is a word of its own, however it is said, that hangs at the graph's loop node, where words
from outside a graph do. What its class costs there is known once a model has been asked, behind the
word. On the way to it the arcs charge what a member costs where its class is at home:

    charge = min(unknown word, HOME_COST - log(share))

and whoever asks the models adds the rest: ``L(class) - log(share) - charge`` in place of what an
unknown word costs.
"""

import math
from dataclasses import dataclass

from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.decoder_kernels.errors import BoostTableError
from earshot.decoder_kernels.lm.lm_image import COST_STEPS

HOME_COST = 2.5
"""In nats, of a class. Less would have names heard everywhere until a model is asked, more would
leave them out of the beam: a search gives a word back no more than its gain limit."""


@dataclass(frozen=True)
class ClassMember:
    """A word of a class. spellings: its tokens, in each of the ways to say it.

    share: its probability where the class is said. Raises BoostTableError for no spelling, one
    without tokens, and a share that is no probability above 0.
    """

    spellings: tuple[Spelling, ...]
    word_class: str
    share: float

    def __post_init__(self) -> None:
        if not all(self.spellings) or not self.spellings:
            raise BoostTableError("a member of a class is spelled with no tokens")
        if not 0.0 < self.share <= 1.0:  # so that NaN fails
            raise BoostTableError(f"the share of a member of {self.word_class} is {self.share}")

    @property
    def share_cost(self) -> float:
        """``-log(share)`` in whole steps of a model's costs."""
        return round(-math.log(self.share) * COST_STEPS) / COST_STEPS

    def charge(self, unknown_cost: float) -> float:
        """The cost of all arcs of a spelling, where an unknown word costs so much."""
        return min(unknown_cost, HOME_COST + self.share_cost)

    def added(self, unknown_cost: float) -> float:
        """The cost beside that of its class, where an unknown word is what is taken back."""
        return self.share_cost + unknown_cost - self.charge(unknown_cost)
