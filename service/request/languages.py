"""Which languages a request may say that its audio is in."""

from dataclasses import dataclass

from earshot.service.errors import BadRequest
from earshot.service.request.request_warning import RequestWarning
from earshot.streaming.language_tags import served_tag

SEVERAL = "multi"
"""Deepgram's word for speech that changes its language."""


@dataclass(frozen=True)
class Languages:
    """served: BCP 47 tags of what the model knows; empty where nobody has said it.

    A region is no matter: a model of `en` serves `en-GB` too.
    """

    served: tuple[str, ...] = ()

    def check(self, asked: str | None) -> RequestWarning | None:
        """Return what there is to say of ``language``; raise BadRequest for one not served."""
        if asked is None:
            return None
        if not self.served:
            return _warning(f"language={asked}: not checked, the model does not say what it knows")
        if self.serves(asked):
            return None
        known = ", ".join(self.served)
        if asked.lower() == SEVERAL:
            return _warning(f"language={asked}: everything is heard as {known}")
        raise BadRequest(f"language={asked}: not served here; the model knows {known}")

    def serves(self, asked: str) -> bool:
        """Whether it is one of those, in whatever region."""
        return served_tag(asked, self.served) is not None

    def choose(self, asked: str | None) -> str | None:
        """The tag by which a stream asks the model for ``language``; None leaves it to the model.

        Where nobody has said what the model knows, what was asked is passed on as it is.
        """
        if asked is None:
            return None
        if self.served:
            return served_tag(asked, self.served)
        return None if asked.lower() == SEVERAL else asked


def _warning(message: str) -> RequestWarning:
    return RequestWarning(parameter="language", type="unsupported_language", message=message)
