"""How far the streams of one session are: one for each channel that is heard by itself."""

from earshot.streaming.events import Configured, NotConfigured


class ChannelStates:
    """Who still goes on, who has failed, and who has yet to answer a Configure.

    duration_s: of the longest stream that closed.
    lost: the first failure.
    """

    def __init__(self, channels: int) -> None:
        self.duration_s = 0.0
        self.lost: BaseException | None = None
        self._going_on = set(range(channels))
        self._closed: set[int] = set()
        self._unanswered: set[int] = set()
        self._answer: Configured | NotConfigured | None = None

    @property
    def all_over(self) -> bool:
        """Whether no stream goes on."""
        return not self._going_on

    @property
    def all_failed(self) -> bool:
        """Whether no stream goes on, and none closed in good order."""
        return self.all_over and not self._closed

    def closed(self, channel: int, duration_s: float) -> bool:
        """Note the end of a stream; True if it was the last."""
        if channel in self._going_on:
            self._going_on.remove(channel)
            self._closed.add(channel)
            self.duration_s = max(self.duration_s, duration_s)
        return self.all_over

    def failed(self, channel: int, error: BaseException) -> Configured | NotConfigured | None:
        """Note a failure; returns the answer to a Configure that only this stream still owed."""
        self.lost = self.lost or error
        self._going_on.discard(channel)
        waited = channel in self._unanswered
        self._unanswered.discard(channel)
        return self._answer if waited and not self._unanswered else None

    def ask(self) -> None:
        """A Configure goes to all streams that go on."""
        self._unanswered, self._answer = set(self._going_on), None

    def answered(
        self, channel: int, answer: Configured | NotConfigured
    ) -> Configured | NotConfigured | None:
        """Note an answer; returns it when all streams have given theirs, None before.

        Streams of one session are configured alike, and answer alike.
        """
        self._answer = answer
        self._unanswered.discard(channel)
        return None if self._unanswered else answer
