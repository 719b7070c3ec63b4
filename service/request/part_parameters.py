"""Parameters of the model's parts, read from a query as their table says."""

from collections.abc import Mapping
from typing import Any

from earshot.service.errors import BadRequest
from earshot.service.request.query_values import QueryValues
from earshot.service.settings import Settings
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.lm_mix import LmChoice, read_lm
from earshot.streaming.parts.option import Option
from earshot.streaming.parts.table import part_parameters, stream_fields


def caps_of(settings: Settings) -> dict[str, int]:
    """The most that requests may ask for, where operators say it."""
    capped = [parameter.name for parameter in part_parameters() if parameter.capped]
    return {name: getattr(settings, name) for name in capped}


def read_part_parameters(values: QueryValues, caps: Mapping[str, int]) -> dict[str, Any]:
    """Fields of `StreamConfig`. Raises BadRequest, naming the parameter."""
    return stream_fields({each.name: _read(values, each, caps) for each in part_parameters()})


def _read(values: QueryValues, parameter: Option, caps: Mapping[str, int]) -> object:
    name, low, high = parameter.name, parameter.low, parameter.high
    match parameter.kind:
        case "number":
            return values.optional_number(name, low, high)
        case "integer":
            return values.optional_integer(name, int(low), caps.get(name, int(high)))
        case _ if values.one(name) is None:
            return None
        case "boolean":
            return values.boolean(name, False)
        case "models":
            return _lm(values.one(name) or "on")


def _lm(text: str) -> LmChoice:
    try:
        return read_lm(text)
    except InvalidStreamConfig as error:
        raise BadRequest(str(error)) from error
