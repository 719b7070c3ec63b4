"""FFmpeg's errors about audio, in words for clients."""

import av

from earshot.service.audio.containers import Container
from earshot.service.errors import UndecodableAudio


def of_no_codec(container: Container, what: str = "file") -> UndecodableAudio:
    """Say that nothing here decodes what is in the container. what: its noun."""
    return UndecodableAudio(f"the {container.name} {what} is damaged, or of a codec we do not read")


def damaged(container: Container, error: Exception, what: str = "file") -> UndecodableAudio:
    """Say why a container could not be read on."""
    if isinstance(error, av.error.PatchWelcomeError):  # its words are for FFmpeg's makers
        return of_no_codec(container, what)
    # The error's own text would name our temporary file.
    reason = error.strerror if isinstance(error, av.FFmpegError) else "its fields make no sense"
    return UndecodableAudio(f"the {container.name} {what} is damaged or cut: {reason}")
