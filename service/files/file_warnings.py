"""What a file's transcript is told to lack, in whichever protocol."""

from collections.abc import Iterator, Sequence

from earshot.service.request.boost_warnings import AskedPhrases, boost_warnings
from earshot.service.request.parameters import ListenParameters
from earshot.service.request.request_warning import RequestWarning
from earshot.service.transcript import Transcript
from earshot.streaming.events import Final


def file_warnings(
    channels: Sequence[Transcript], parameters: ListenParameters
) -> list[RequestWarning]:
    """Warnings of failed channels first; those of phrases once, since all have the same."""
    lost = (_of_lost(number) for number, each in enumerate(channels) if each.failed)
    asked = AskedPhrases.of(parameters.keyterms, parameters.keywords)
    of_boosts = [w for each in channels for w in boost_warnings(each.boost_warnings, asked)]
    of_passes = _of_second_passes([final for each in channels for final in each.finals])
    return list(dict.fromkeys([*lost, *parameters.warnings, *of_boosts, *of_passes]))


def _of_lost(channel: int) -> RequestWarning:
    message = f"channel {channel}: decoding failed, and its text is missing"
    return RequestWarning(parameter="multichannel", type="failed_channel", message=message)


def _of_second_passes(finals: Sequence[Final]) -> Iterator[RequestWarning]:
    failed = sum(final.second_pass_failed for final in finals)
    if failed:
        message = f"the second pass failed; of {len(finals)} utterances {failed} lack it"
        yield RequestWarning(parameter="mode", type="second_pass_failed", message=message)
