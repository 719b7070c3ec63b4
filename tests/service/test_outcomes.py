import inspect

import pytest

from earshot.service import errors
from earshot.service.errors import BadRequest
from earshot.service.outcomes import (
    MAX_REASON_BYTES,
    OUTCOMES,
    close_reason,
    outcome_of,
    public_message,
)
from earshot.service.request.boosts import TooManyPhrases
from earshot.streaming.errors import DecodingFailed, OutputNotFinite

CAN_HAPPEN_TO_CLIENTS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.ServiceError)
    and kind not in (errors.ServiceError, errors.Refused, errors.StartupError)
]


@pytest.mark.parametrize("kind", CAN_HAPPEN_TO_CLIENTS)
def test_every_error_of_the_edge_has_its_row(kind):
    assert kind in OUTCOMES


def test_a_subclass_is_treated_as_its_base():
    assert outcome_of(TooManyPhrases("x")) is OUTCOMES[errors.BadRequest]


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), DecodingFailed("secret")])
def test_what_nobody_expected_tells_nothing_of_itself(error):
    assert outcome_of(error).http_status == 500
    assert close_reason(error) == "NET-0000: internal error"


def test_a_network_without_numbers_is_told_as_that():
    error = OutputNotFinite()
    assert outcome_of(error).http_status == 500
    assert close_reason(error) == "NET-0000: the network's output is not finite"


def test_reasons_fit_into_a_close_frame_without_breaking_a_character():
    reason = close_reason(errors.BadRequest("é" * 200))
    assert MAX_REASON_BYTES - 1 <= len(reason.encode()) <= MAX_REASON_BYTES
    assert public_message(errors.BadRequest("why")) == "why"


def test_a_reason_that_is_no_unicode_can_be_sent() -> None:
    assert close_reason(BadRequest("language=\ud800")).startswith("DATA-0002: language=?")
