"""The encoder's part of a step: features, encoder and prompt, for all lanes that have a window."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from earshot.models.fastconformer.heads import Prompt
from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.fastconformer.hearing import Hearing
from earshot.streaming.fastconformer.language_prompt import LanguagePrompt
from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.lane_features import compute_features


class EncodeStep:
    """Fills in `Lane.encoded`.

    A failing call leaves every stream as it was, but for lanes that have `moved`, which are done.
    """

    def __init__(
        self,
        hearing: Hearing,
        settings: StreamSettings,
        prompt: Prompt | None,
        languages: LanguagePrompt | None,
    ) -> None:
        self._hearing = hearing
        self._settings = settings
        self._prompt, self._languages = prompt, languages

    def __call__(self, lanes: Sequence[Lane]) -> None:
        """Frames that are encoded already are given as they are.

        Raises OutputNotFinite when the network's output is not finite.
        """
        for lane in lanes:
            if (rest := lane.stream.rest) is not None:
                lane.encoded, lane.output = rest.encoded, rest.output
        moving = [
            lane
            for lane in lanes
            if lane.cut.frames and lane.stream.rest is None and not lane.moved
        ]
        if not moving:
            return
        compute_features(moving, self._settings)
        heard = self._hearing(moving)
        if not bool(torch.stack([frames.isfinite().all() for frames in heard.encoded]).all()):
            raise OutputNotFinite
        encoded = heard.encoded
        if self._prompt is not None and self._languages is not None:
            places = [self._languages.place(lane.stream.config.language) for lane in moving]
            encoded = self._languages.tell(self._prompt, encoded, places)
        for lane, frames in zip(moving, encoded, strict=True):
            lane.encoded = frames
        for moved, move in heard.moves:
            move()
            for lane in moved:
                lane.moved = True
