"""What a step's results mean for the caller: partials, finals and the events around them."""

from decoder_kernels.prefix_search import PrefixHypothesis
from models.tokenizer import Tokenizer
from streaming.active_stream import ActiveStream
from streaming.engine_stats import Counters
from streaming.events import Alternative, Final, Partial
from streaming.lane import Ending
from streaming.results import alternative, distinct, first_pass_scores, stable_words

NOTHING_SAID = Alternative("", (), 0.0, 0.0)


class Publisher:
    """Turns hypotheses into events of one model's words."""

    def __init__(self, tokenizer: Tokenizer, counters: Counters) -> None:
        self._tokenizer = tokenizer
        self._counters = counters

    def partial(
        self, stream: ActiveStream, hypothesis: PrefixHypothesis, stable_length: int
    ) -> None:
        """Tell what the segment says so far, if that has changed."""
        scored = first_pass_scores(hypothesis)
        clock = stream.clock
        said = alternative(scored, self._tokenizer, clock, stream.boosts)
        stable = stable_words(hypothesis.tokens, stable_length, self._tokenizer)
        if stream.segment.shown == (said.text, stable):
            return
        stream.segment.shown = (said.text, stable)
        duration_s = stream.decoded_s - clock.start_s
        stream.emit(Partial(clock.start_s, duration_s, (said,), stable))
        self._counters.partials += 1

    def final(self, ending: Ending) -> None:
        """Tell what the segment said.

        A segment in which nothing was said ends silently, unless someone waits for its final or
        has seen a partial that must be taken back.
        """
        stream, clock = ending.stream, ending.stream.clock
        said = distinct(
            [
                alternative(scored, self._tokenizer, clock, stream.boosts)
                for scored in ending.scored
            ],
            stream.config.alternatives,
        ) or (NOTHING_SAID,)
        speech_final = ending.cause != "max_utterance"
        stream.utterance.ended(said[0].words, speech_final)
        awaited = ending.seam is None or stream.segment.shown[0]
        if not said[0].text and not awaited:
            return
        end_s = clock.end_s if ending.seam is None else clock.at(ending.seam)
        stream.emit(
            Final(
                start_s=clock.start_s,
                duration_s=end_s - clock.start_s,
                alternatives=said,
                speech_final=speech_final,
                from_finalize=ending.cause == "finalize",
                cause=ending.cause,
            )
        )
        self._counters.finals += 1
