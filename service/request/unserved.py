"""Parameters of Deepgram's API that are not served: refused, or named in a warning."""

from earshot.service.errors import BadRequest
from earshot.service.request.languages import Languages
from earshot.service.request.query_values import QueryValues
from earshot.service.request.request_warning import RequestWarning

REFUSED = {
    "redact": "nothing is redacted here; what comes back would hold what should not",
    "callback": "no address is called from here; the answer comes to this request",
}
"""Asked for and not done, these would do harm."""

IGNORED = {
    "custom_intent": "intents are not looked for",
    "custom_topic": "topics are not looked for",
    "detect_entities": "entities are not marked",
    "detect_language": "the language is not detected",
    "detect_topics": "topics are not looked for",
    "diarize": "speakers are not told apart",
    "diarize_model": "speakers are not told apart",
    "diarize_version": "speakers are not told apart",
    "dictation": "spoken punctuation stays words",
    "extra": "not kept and not repeated in the answer",
    "filler_words": "fillers are neither looked for nor taken out",
    "intents": "intents are not looked for",
    "language_hint": "every word is heard as the model's own language",
    "measurements": "units stay words",
    "numerals": "numbers stay words; smart_format=true writes figures",
    "profanity_filter": "no word is masked",
    "replace": "no words are replaced",
    "search": "nothing is searched for",
    "sentiment": "sentiment is not judged",
    "summarize": "there is no summary",
    "tag": "not kept",
    "tier": "there is one model, whatever the tier",
    "topics": "topics are not looked for",
    "utt_split": "a pause of `endpointing` milliseconds ends an utterance",
    "version": "there is one version of the model",
}
"""Parameters whose wish is not done, with what happens instead."""

_NO_WISH = ("", "false", "0")
_AS_SERVED = {"version": ("latest",)}


def refuse_unserved(values: QueryValues) -> None:
    """Raise BadRequest for what must not be left undone in silence, nor with a warning."""
    for name, why in REFUSED.items():
        if _asked(values, name):
            raise BadRequest(f"{name}: {why}")


def unserved_warnings(values: QueryValues, languages: Languages) -> list[RequestWarning]:
    """One warning for each parameter that asks for something that is not done."""
    return [
        unsupported(name, why)
        for name, why in IGNORED.items()
        if any(not _is_served(name, wish, values, languages) for wish in _asked(values, name))
    ]


def no_marks_here(parameter: str) -> RequestWarning:
    """For who asks for capitals and marks of a model that has none, nor a tagger beside it."""
    return unsupported(parameter, "this model has no tagger of capitals, full stops and commas")


def unsupported(parameter: str, why: str) -> RequestWarning:
    """A parameter whose wish is not done, and what happens instead."""
    return RequestWarning(
        parameter=parameter, type="unsupported_parameter", message=f"{parameter}: {why}"
    )


def _asked(values: QueryValues, name: str) -> list[str]:
    return [value for value in values.all(name) if value.strip().lower() not in _NO_WISH]


def _is_served(name: str, wish: str, values: QueryValues, languages: Languages) -> bool:
    if name == "language_hint":
        return languages.serves(wish)
    if name == "numerals":
        return values.boolean("smart_format", False)
    return wish.lower() in _AS_SERVED.get(name, ())
