"""What a step's results mean for the caller: partials, finals and the events around them."""

from dataclasses import replace

from earshot.streaming.engine.engine_stats import Counters
from earshot.streaming.events import Alternative, EagerEndOfTurn, Final, Partial, TurnResumed
from earshot.streaming.results.asked_words import as_asked
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.results.results import alternative, distinct, first_pass_scores
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Ending

NOTHING_SAID = Alternative("", (), 0.0, 0.0)


class Publisher:
    """Turns hypotheses into events."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def partial(self, stream: ActiveStream, best: Best) -> None:
        """Tell what the segment says so far, if that has changed."""
        shown = (best.hypothesis.text, best.stable_words)
        if stream.segment.shown == shown:
            return
        stream.segment.shown = shown
        self._counters.partials += 1
        clock = stream.clock
        heard = as_asked(best.hypothesis, stream.boosts.capitals)
        said = alternative(first_pass_scores(heard), clock)
        duration_s = stream.decoded_s - clock.start_s
        stream.emit(Partial(clock.start_s, duration_s, (said,), best.stable_words))

    def eager_end(self, ending: Ending) -> None:
        """Tell that the turn may well be over, once in a pause, and what was said until then."""
        segment = ending.stream.segment
        said = _said(ending)
        segment.asked_end = segment.detector.likely_end
        if not said[0].text:
            return
        segment.told_end = segment.asked_end
        ending.stream.emit(EagerEndOfTurn(_final(ending, said, ending.stream.decoded_s)))

    def resumed(self, stream: ActiveStream) -> None:
        """Tell that speech has gone on behind an eager end of the turn."""
        segment = stream.segment
        if segment.told_end is not None and segment.told_end is not segment.detector.likely_end:
            segment.told_end = None
            stream.emit(TurnResumed(stream.decoded_s))

    def final(self, ending: Ending) -> None:
        """Tell what the segment said.

        A segment in which nothing was said ends silently, unless someone waits for its final, has
        seen a partial that must be taken back, or was told the beginning of the utterance.
        """
        stream, clock = ending.stream, ending.stream.clock
        said, goes_on = _said(ending), bool(stream.utterance.words)
        speech_final = ending.cause != "max_utterance"
        best = [word for each in ending.scored[:1] for word in each.hypothesis.words]
        heard = [word.asked for word in best if not word.goes_on]
        stream.utterance.ended(said[0].words, heard, speech_final=speech_final)
        awaited = ending.boundary is None or stream.segment.shown[0] or (goes_on and speech_final)
        if not said[0].text and not awaited:
            return
        end_s = clock.end_s if ending.boundary is None else clock.at(ending.boundary)
        self._counters.finals += 1
        stream.emit(_final(ending, said, end_s))


def _said(ending: Ending) -> tuple[Alternative, ...]:
    """The alternatives of an ending, at least one."""
    stream, clock = ending.stream, ending.stream.clock
    told = [
        replace(scored, hypothesis=as_asked(scored.hypothesis, stream.boosts.capitals))
        for scored in distinct(ending.scored, stream.config.alternatives)
    ]
    return tuple(alternative(scored, clock) for scored in told) or (NOTHING_SAID,)


def _final(ending: Ending, said: tuple[Alternative, ...], end_s: float) -> Final:
    """The final of an ending that says this, of the stream's audio until then."""
    stream, start_s = ending.stream, ending.stream.clock.start_s
    speech_final = ending.cause != "max_utterance"
    confidence = stream.segment.detector.confidence if ending.pause_frames else None
    return Final(
        start_s=start_s,
        duration_s=end_s - start_s,
        alternatives=said,
        speech_final=speech_final,
        from_finalize=ending.cause == "finalize",
        cause=ending.cause,
        second_pass_failed=ending.second_pass_failed,
        pause_s=ending.pause_frames * stream.settings.chunking.frame_ms / 1000,
        end_of_turn_confidence=confidence if speech_final else None,
    )
