"""Which languages a request may say that its audio is in."""

from dataclasses import dataclass

from earshot.service.deepgram.response.wire import RequestWarning
from earshot.service.errors import BadRequest

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
        return _primary(asked) in map(_primary, self.served)


def _primary(tag: str) -> str:
    return tag.lower().replace("_", "-").partition("-")[0]


def _warning(message: str) -> RequestWarning:
    return RequestWarning(parameter="language", type="unsupported_language", message=message)
