"""Names of models that a request may ask for: there is one model, and clients know many names."""

from dataclasses import dataclass

from earshot.service.errors import BadRequest


@dataclass(frozen=True)
class KnownNames:
    """Names that clients of a protocol ask for, and whose they are."""

    whose: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class ModelNames:
    """own: the model's. aliases: what the operator adds. strict: nothing but those, as written.

    known: what clients of the request's protocol ask for; None without one.
    """

    own: str
    aliases: tuple[str, ...] = ()
    strict: bool = False
    known: KnownNames | None = None

    @property
    def others(self) -> tuple[str, ...]:
        """The names besides its own that the model answers to, as /v1/models lists them."""
        known = () if self.strict or self.known is None else self.known.names
        return tuple(name for name in dict.fromkeys((*self.aliases, *known)) if name != self.own)

    def check(self, asked: str | None) -> None:
        """Raise BadRequest for a name that is not served."""
        if asked is None or self._serves(asked):
            return
        named = ", ".join((self.own, *self.aliases))
        more = ""
        if self.known is not None and not self.strict:
            more = f", and any name of {self.known.whose}'s that /v1/models lists"
        raise BadRequest(f"model={asked}: not served here; the one model answers to {named}{more}")

    def _serves(self, asked: str) -> bool:
        names = (self.own, *self.others)
        if self.strict:
            return asked in names
        return not asked or asked.lower() in map(str.lower, names)
