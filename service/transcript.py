"""The text of one file, as its finals come in."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from service.paragraphs import paragraphs_of
from service.result_messages import EMPTY_ALTERNATIVE, ServedModel, wire_alternative
from service.wire import (
    Channel,
    FileMetadata,
    FileResponse,
    FileResults,
    RequestWarning,
    Utterance,
    WireAlternative,
)
from streaming.events import Final, UnboostablePhrase


@dataclass
class Transcript:
    """Finals with words, in order; those without are dropped."""

    finals: list[Final] = field(default_factory=list)
    unboostable: list[UnboostablePhrase] = field(default_factory=list)
    duration_s: float = 0.0

    def add(self, final: Final) -> None:
        """Append a final."""
        if final.alternatives and final.alternatives[0].text:
            self.finals.append(final)

    def text(self) -> str:
        """One line per utterance."""
        return "".join(final.alternatives[0].text + "\n" for final in self.finals)

    def response(
        self,
        request_id: str,
        created: str,
        sha256: str,
        model: ServedModel,
        warnings: Sequence[RequestWarning] = (),
        *,
        paragraphs: bool = False,
    ) -> FileResponse:
        """The whole answer in Deepgram's shape."""
        return FileResponse(
            metadata=FileMetadata(
                request_id=request_id,
                sha256=sha256,
                created=created,
                duration=round(self.duration_s, 3),
                models=[model.uuid],
                model_info={model.uuid: model.info},
                warnings=list(warnings) or None,
            ),
            results=FileResults(
                channels=[Channel(alternatives=self._alternatives(paragraphs))],
                utterances=[
                    _utterance(final, f"{request_id}-{index}")
                    for index, final in enumerate(self.finals)
                ],
            ),
        )

    def _alternatives(self, paragraphs: bool) -> list[WireAlternative]:
        """The file's n-th reading joins the n-th of each utterance, or its last if it has fewer."""
        depth = max((len(final.alternatives) for final in self.finals), default=0)
        readings = [self._joined(rank) for rank in range(depth)] or [EMPTY_ALTERNATIVE]
        if paragraphs:
            divided = {"paragraphs": paragraphs_of(self.finals)}
            readings[0] = readings[0].model_copy(update=divided)
        return readings

    def _joined(self, rank: int) -> WireAlternative:
        chosen = [
            final.alternatives[min(rank, len(final.alternatives) - 1)] for final in self.finals
        ]
        words = [word for each in chosen for word in wire_alternative(each).words]
        return WireAlternative(
            transcript=" ".join(each.text for each in chosen if each.text),
            confidence=round(sum(word.confidence for word in words) / max(1, len(words)), 4),
            words=words,
        )


def _utterance(final: Final, identifier: str) -> Utterance:
    best = wire_alternative(final.alternatives[0])
    return Utterance(
        start=best.words[0].start if best.words else round(final.start_s, 3),
        end=best.words[-1].end if best.words else round(final.start_s + final.duration_s, 3),
        confidence=best.confidence,
        transcript=best.transcript,
        words=best.words,
        id=identifier,
    )
