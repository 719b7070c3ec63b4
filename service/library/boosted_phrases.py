"""Phrases to boost as programs give them: in plain text, with a weight, or as requests do."""

import warnings
from collections.abc import Iterable

from earshot.service.errors import BadRequest
from earshot.service.request.boosts import BoostRules
from earshot.service.settings import Settings
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.stream_config import Boost

_PROGRAM = 4
"""Calls from the warning up to the program's own, which is shown with it."""


def boosts_of(
    boosts: Iterable[str | Boost], keyterm: str | Iterable[str], settings: Settings
) -> tuple[Boost, ...]:
    """Read what a program gives; where no weight is given it is the setting's.

    keyterm: as the parameter of requests, `phrase` or `phrase:weight`; one, or several.

    Raises:
        InvalidStreamConfig: a phrase is empty, or its weight is none.
    """
    return (*_plain(boosts, settings.boost_weight), *_of_requests(keyterm, settings))


def _plain(boosts: Iterable[str | Boost], weight: float) -> tuple[Boost, ...]:
    if isinstance(boosts, str):
        raise InvalidStreamConfig(f"boosts is a list of phrases: [{boosts!r}]")
    made = tuple(Boost(each, weight) if isinstance(each, str) else each for each in boosts)
    if not all(boost.phrase.strip() for boost in made):
        raise InvalidStreamConfig("a boosted phrase is empty")
    return made


def _of_requests(keyterm: str | Iterable[str], settings: Settings) -> tuple[Boost, ...]:
    texts = [keyterm] if isinstance(keyterm, str) else list(keyterm)
    rules = BoostRules(settings.boost_weight, settings.max_phrases)
    try:
        made = rules.parse(texts, ())
    except BadRequest as error:
        raise InvalidStreamConfig(str(error)) from error
    for told in rules.warnings(texts, ()):
        warnings.warn(f"{told.parameter}: {told.message}", stacklevel=_PROGRAM)
    return made
