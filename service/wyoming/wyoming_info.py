"""What a Wyoming server says of itself."""

from collections.abc import Mapping

from earshot.service.served_model import ServedModel

_OTHER_SERVICES = ("tts", "handle", "intent", "wake", "mic", "snd")


def info_of(model: ServedModel) -> Mapping[str, object]:
    """The data of `info`: one program for speech, and its model."""
    of_all = {"attribution": {"name": "Earshot", "url": ""}, "installed": True}
    described = {
        "name": model.name,
        "description": model.arch,
        "version": model.version,
        "languages": list(model.languages),
        **of_all,
    }
    program = {
        "name": "earshot",
        "description": "Streaming speech recognition",
        "version": model.version,
        "models": [described],
        "supports_transcript_streaming": False,
        **of_all,
    }
    return {"asr": [program], **{name: [] for name in _OTHER_SERVICES}}
