"""What one request asked for and does not get, and which message says so when."""

from collections.abc import Iterable

from earshot.service.request.request_warning import RequestWarning

MAX_CARRIED = 100
"""In one message: a thousand phrases with their reasons would fill a slow client's outbox."""


class StreamWarnings:
    """Warnings of the parameters hold for good, warnings of boosted phrases until a Configure."""

    def __init__(self, of_parameters: Iterable[RequestWarning] = ()) -> None:
        self._of_parameters = tuple(of_parameters)
        self._of_boosts: list[RequestWarning] = []
        self._untold: list[RequestWarning] = list(self._of_parameters)

    @property
    def all(self) -> list[RequestWarning]:
        """All that hold."""
        return list(dict.fromkeys([*self._of_parameters, *self._of_boosts]))

    def add(self, warning: RequestWarning) -> None:
        """Take one about a phrase of the request."""
        self._of_boosts.append(warning)
        self._untold.append(warning)

    def replace(self, warnings: Iterable[RequestWarning]) -> None:
        """Replace the phrase warnings by those of the latest Configure."""
        outdated = set(self._of_boosts)
        self._of_boosts = list(warnings)
        kept = [each for each in self._untold if each not in outdated]
        self._untold = [*kept, *self._of_boosts]

    def take_untold(self) -> list[RequestWarning]:
        """Warnings that no final has carried yet; the next final carries them."""
        untold, self._untold = list(dict.fromkeys(self._untold)), []
        return untold


def carried(warnings: list[RequestWarning]) -> list[RequestWarning]:
    """What one message carries of them: the first hundred, and how many there are besides."""
    if len(warnings) <= MAX_CARRIED:
        return warnings
    more = f"and {len(warnings) - MAX_CARRIED} more; with warnings=true each is a message"
    last = warnings[MAX_CARRIED].model_copy(update={"message": more, "phrase": None})
    return [*warnings[:MAX_CARRIED], last]
