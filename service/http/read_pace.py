"""How fast one client's messages are read, so that a storm of them leaves the others alone."""

MESSAGE_S = 0.001
PIECE_S = 0.0002
CHARACTER_S = 0.00001
AUDIO_CHARACTER_S = 2e-7
"""Seconds for a character of base64, which is only decoded."""

BYTE_S = 1e-7
MOST_S = 1.0
BURST_S = 0.05


class ReadPace:
    """A leaky bucket of reading time; what is not read yet waits in TCP, and so does its sender.

    A message, however small, costs a millisecond, and its length besides: to resample audio and to
    parse text is work for the loop that serves all. Live audio is far below.
    """

    def __init__(self, character_s: float = CHARACTER_S) -> None:
        """character_s: what a character of text costs, less where audio comes as text."""
        self._character_s = character_s
        self._empty_at_s = 0.0

    def delay_s(self, message: bytes | str, now_s: float) -> float:
        """Take the message into account; return how long to wait before reading the next."""
        length_s = len(message) * (self._character_s if isinstance(message, str) else BYTE_S)
        # A socket that is not read does not show that it is closed.
        return self._take(min(MESSAGE_S + length_s, MOST_S), now_s)

    def piece_delay_s(self, now_s: float) -> float:
        """Take a piece of a message into account, which is parsed and no more; some cut small."""
        return self._take(PIECE_S, now_s)

    def _take(self, cost_s: float, now_s: float) -> float:
        self._empty_at_s = max(self._empty_at_s, now_s) + cost_s
        ahead_s = self._empty_at_s - now_s
        return ahead_s if ahead_s > BURST_S else 0.0
