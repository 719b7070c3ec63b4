"""What the engine says of boosted phrases, as warnings of the request that has them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from earshot.service.request.boosts import WEIGHED_KEYTERM
from earshot.service.request.request_warning import RequestWarning, WarningType
from earshot.streaming.events import BoostWarning, LeftOutMember, LimitedBoost, UnboostablePhrase


@dataclass(frozen=True)
class AskedPhrases:
    """The phrases of one request that `BoostRules.parse` took, as warnings tell them apart.

    keywords: those that came as `keywords`. weighted: those with a weight of the client's choice,
    which of keywords is in written as well, as `parse` may have capped it.
    """

    keywords: frozenset[str] = frozenset()
    weighted: frozenset[str] = frozenset()
    written: Mapping[str, float] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, keyterms: Iterable[str], keywords: Iterable[str]) -> "AskedPhrases":
        """Read them as `parse` does."""
        split = [text.rpartition(":") for text in keywords]
        matches = [WEIGHED_KEYTERM.fullmatch(text.strip()) for text in keyterms]
        weighted = [word for word, colon, _ in split if colon]
        weighted += [match["phrase"] for match in matches if match is not None]
        return cls(
            keywords=frozenset((word if colon else rest).strip() for word, colon, rest in split),
            weighted=frozenset(phrase.strip() for phrase in weighted),
            written={word.strip(): float(weight) for word, colon, weight in split if colon},
        )


def boost_warnings(events: Iterable[BoostWarning], asked: AskedPhrases) -> list[RequestWarning]:
    """The engine's words on the phrases of a request.

    A weight that counts as less is news where the client has chosen it: our own is what it is.
    """
    return [
        _warning_of(event, asked)
        for event in events
        if isinstance(event, UnboostablePhrase) or event.phrase in asked.weighted
    ]


def _warning_of(event: BoostWarning, asked: AskedPhrases) -> RequestWarning:
    parameter = "keywords" if event.phrase in asked.keywords else "keyterm"
    kind: WarningType
    match event:
        case LeftOutMember(reason=why, class_name=name):
            parameter, kind, said = "entities", "unspellable_member", f"left out of {name}: {why}"
        case UnboostablePhrase(reason=said):
            kind = "unboostable_phrase"
        case LimitedBoost(weight=weight, effective_weight=limit, unit=unit):
            kind = "changed_value"
            most = f"the most that each of its {unit}s can earn beside the request's other phrases"
            weight = asked.written.get(event.phrase, weight)
            said = f"the weight {weight:g} counts as {limit:g}, {most}"
    return RequestWarning(
        parameter=parameter,
        type=kind,
        message=f"{event.phrase}: {said}",
        phrase=event.phrase,
    )
