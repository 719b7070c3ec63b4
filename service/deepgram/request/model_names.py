"""Names of models that a request may ask for: there is one model, and clients know many names."""

from dataclasses import dataclass

from earshot.service.errors import BadRequest

KNOWN_NAMES = (
    "nova-3", "nova-3-general", "nova-3-medical", "nova-3-multilingual",
    "nova-2", "nova-2-general", "nova-2-meeting", "nova-2-phonecall", "nova-2-finance",
    "nova-2-conversationalai", "nova-2-voicemail", "nova-2-video", "nova-2-medical",
    "nova-2-drivethru", "nova-2-automotive", "nova-2-atc",
    "nova", "nova-general", "nova-phonecall", "nova-meeting", "nova-medical",
    "enhanced", "enhanced-general", "enhanced-meeting", "enhanced-phonecall", "enhanced-finance",
    "base", "base-general", "base-meeting", "base-phonecall", "base-finance",
    "base-conversationalai", "base-voicemail", "base-video",
    "general", "meeting", "phonecall", "finance", "conversationalai", "voicemail", "video",
    "whisper", "whisper-tiny", "whisper-base", "whisper-small", "whisper-medium", "whisper-large",
    "custom",
)  # fmt: skip
"""For /v1/listen, of Deepgram's documentation, its SDKs and the plugins of LiveKit and Pipecat."""


@dataclass(frozen=True)
class ModelNames:
    """own: the model's. aliases: what the operator adds. strict: nothing but those, as written."""

    own: str
    aliases: tuple[str, ...] = ()
    strict: bool = False

    @property
    def others(self) -> tuple[str, ...]:
        """The names besides its own that the model answers to, as /v1/models lists them."""
        known = () if self.strict else KNOWN_NAMES
        return tuple(name for name in dict.fromkeys((*self.aliases, *known)) if name != self.own)

    def check(self, asked: str | None) -> None:
        """Raise BadRequest for a name that is not served."""
        if asked is None or self._serves(asked):
            return
        named = ", ".join((self.own, *self.aliases))
        more = "" if self.strict else ", and any name of Deepgram's that /v1/models lists"
        raise BadRequest(f"model={asked}: not served here; the one model answers to {named}{more}")

    def _serves(self, asked: str) -> bool:
        names = (self.own, *self.others)
        if self.strict:
            return asked in names
        return not asked or asked.lower() in map(str.lower, names)
