"""What a Configure asks for in vain."""

from earshot.service.deepgram.response.wire import Configure
from earshot.service.request.request_warning import RequestWarning
from earshot.service.request.unserved import unsupported


def configure_warnings(message: Configure) -> list[RequestWarning]:
    """What a Configure names in vain, or that it names nothing."""
    in_vain = []
    if message.features:
        in_vain.append(unsupported("features", "not done, what was set at the start stays"))
    if message.mode is not None:
        in_vain.append(unsupported("mode", "fixed for the stream, the one set at the start stays"))
    if message.changes_nothing and not in_vain:
        in_vain.append(unsupported("Configure", "it names nothing that can be changed"))
    return in_vain
