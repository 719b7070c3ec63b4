"""Names of Deepgram's models, by which clients ask for ours."""

from earshot.service.request.model_names import KnownNames

_NAMES = (
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

DEEPGRAMS = KnownNames("Deepgram", _NAMES)
"""For /v1/listen, of Deepgram's documentation, its SDKs and the plugins of LiveKit and Pipecat."""
