"""How a request wants its results written."""

from dataclasses import dataclass, replace
from typing import TypeVar

from earshot.service.smart_format import smart_format
from earshot.service.written_words import bare, punctuated
from earshot.streaming.events import Final, Partial

Result = TypeVar("Result", bound=Partial | Final)


@dataclass(frozen=True)
class Writing:
    """punctuate: capitals and marks. smart_format: numbers of finals in figures.

    Without either a text has no capitals and no marks, whatever the model writes.
    """

    punctuate: bool = False
    smart_format: bool = False

    def of(self, result: Result) -> Result:
        """A partial or a final, all its alternatives."""
        alternatives = result.alternatives
        if not self.punctuate:
            alternatives = tuple(map(bare, alternatives))
        if self.smart_format and isinstance(result, Final):
            alternatives = tuple(map(smart_format, alternatives))
        elif self.punctuate:
            alternatives = tuple(map(punctuated, alternatives))
        return replace(result, alternatives=alternatives)


AS_HEARD = Writing()
