"""What the tagger tells decoding: written forms for the words of partials and finals.

It writes no other words and changes none: each gets a written form beside its text
(`SpokenWord.written`), for streams that ask for it (`StreamConfig.punctuate`). Of a partial only
new words are looked at, and those that see them: up to four before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from earshot.streaming.engine.pulse import Beat
from earshot.streaming.results.hypothesis import Best, Hypothesis, SpokenWord
from earshot.streaming.results.results import Scored, distinct, word_times
from earshot.streaming.results.retold import written_as
from earshot.streaming.stream.active_stream import ActiveStream

if TYPE_CHECKING:
    from earshot.language.marks.word_tagger import Key, Tag, Tagged, WordTagger
    from earshot.streaming.stream.lane import Ending
    from earshot.streaming.stream.segment import Segment

_SIGNS = (".", ",", "?", "!", ";", ":")


def _is_written(word: SpokenWord) -> bool:
    """Whether somebody has written it already; a request writes its phrases as it likes."""
    return word.written is not None or (word.text.endswith(_SIGNS) and not word.boosted)


@dataclass
class StreamTags:
    """What a stream's words were told to be so far, in `ActiveStream.tags`.

    segment: None where they are but what later segments see. tagged: words of the segment. begins:
    whether a sentence begins with its first word.
    """

    segment: Segment | None
    tagged: Tagged
    begins: bool

    @property
    def carried(self) -> StreamTags:
        """The part that later segments see, of no segment."""
        return self.following(None)

    def following(self, segment: Segment | None) -> StreamTags:
        """The state of the next segment, which sees this one."""
        from earshot.language.marks.marked_words import ENDS

        tags = self.tagged.tags
        begins = tags[-1].mark in ENDS if tags else self.begins
        return StreamTags(segment, self.tagged.as_past(), begins)


class WordTagging:
    """Gives words their written forms. Only the engine thread calls it."""

    def __init__(self, tagger: WordTagger) -> None:
        self._tagger = tagger

    def __call__(self, endings: Sequence[Ending], beat: Beat) -> None:
        """See `EndingStep`; alternatives that nobody is told get no forms."""
        from earshot.language.marks.pauses import END, NEWEST

        for ending in endings:
            stream = ending.stream
            if not stream.config.punctuate:
                continue
            beat()
            told = {id(each) for each in distinct(ending.scored, stream.config.alternatives)}
            last = NEWEST if ending.cause == "max_utterance" else END
            # The best comes last: it is what the next segment sees.
            for place in reversed(range(len(ending.scored))):
                scored = ending.scored[place]
                if id(scored) in told:
                    ending.scored[place] = self._scored(stream, scored, last)

    def partials(self, streams: Sequence[ActiveStream], best: Sequence[Best]) -> list[Best]:
        """See `PartialStep`; all streams in one pass of the network."""
        from earshot.language.marks.pauses import NEWEST

        found = list(best)
        asking = [place for place, stream in enumerate(streams) if stream.config.punctuate]
        written = self._written([(streams[p], best[p].hypothesis) for p in asking], NEWEST)
        for place, hypothesis in zip(asking, written, strict=True):
            found[place] = replace(best[place], hypothesis=hypothesis)
        return found

    def _scored(self, stream: ActiveStream, scored: Scored, last: int) -> Scored:
        [written] = self._written([(stream, scored.hypothesis)], last)
        return replace(scored, hypothesis=written)

    def _written(
        self, said: Sequence[tuple[ActiveStream, Hypothesis]], last: int
    ) -> list[Hypothesis]:
        """With written forms, unless whoever has found one knows some, or writes marks itself."""
        found = [hypothesis for _, hypothesis in said]
        bare = [place for place, each in enumerate(found) if not any(map(_is_written, each.words))]
        states = [self._state(said[place][0]) for place in bare]
        asked = [
            (_keys(*said[place], last), state.tagged)
            for place, state in zip(bare, states, strict=True)
        ]
        for place, state, tagged in zip(bare, states, self._tagger.tag_all(asked), strict=True):
            state.tagged = tagged
            forms = self._forms(found[place].words, tagged.tags, begins=state.begins)
            found[place] = written_as(found[place], forms)
        return found

    def _state(self, stream: ActiveStream) -> StreamTags:
        from earshot.language.marks.word_tagger import NOTHING_TAGGED

        state = stream.tags
        if not isinstance(state, StreamTags):
            state = StreamTags(stream.segment, NOTHING_TAGGED, begins=True)
        elif state.segment is not stream.segment:
            state = state.following(stream.segment)
        stream.tags = state
        return state

    def _forms(
        self, words: Sequence[SpokenWord], tags: Sequence[Tag], *, begins: bool
    ) -> list[str]:
        """Written forms; a sentence begins with a capital whatever its tag says."""
        from earshot.language.marks.marked_words import ENDS, SIGNS

        shouted = all(word.text.isupper() for word in words)
        forms = []
        for word, tag in zip(words, tags, strict=True):
            form = self._form(word, tag, begins=begins, shouted=shouted)
            forms.append(form if form.endswith(_SIGNS) else form + SIGNS[tag.mark])
            begins = tag.mark in ENDS
        return forms

    def _form(self, word: SpokenWord, tag: Tag, *, begins: bool, shouted: bool) -> str:
        """A word that a request or the model writes with capitals stays as it is."""
        from earshot.language.marks.marked_words import Capital, spelled

        lowered = word.text.lower()
        is_wish = word.boosted and not word.read_out
        if is_wish or (word.text != lowered and not shouted):
            return word.text
        first = begins or lowered.partition("'")[0] == "i"
        low = tag.capital == Capital.LOWER
        return spelled(lowered, Capital.FIRST if first and low else tag.capital, self._tagger.forms)


def _keys(stream: ActiveStream, hypothesis: Hypothesis, last: int) -> list[Key]:
    """What the tagger looks at of each word. last: the class of the pause after the last one."""
    from earshot.language.marks.pauses import pause_classes

    times = word_times(hypothesis, stream.clock)
    texts = [word.text.lower() for word in hypothesis.words]
    return list(zip(texts, pause_classes(times, last), strict=True))
