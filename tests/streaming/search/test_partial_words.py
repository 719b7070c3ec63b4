"""Where partials of a graph search look for the times of their words."""

from earshot.streaming.events import Partial
from earshot.streaming.stream_config import EndpointConfig, StreamConfig


def test_a_partial_looks_where_its_new_words_are(graph_engine, tone_model, sounds, monkeypatch):
    network, asked = type(tone_model.model), []

    def heard_by(model, encoded, plain=network.ctc_log_probs):
        if encoded.dim() == 2:  # of one segment, not of a step
            asked.append(len(encoded))
        return plain(model, encoded)

    monkeypatch.setattr(network, "ctc_log_probs", heard_by)
    config = StreamConfig("ctc_wfst_beam_search", endpoint=EndpointConfig(silence_ms=None))
    heard = sounds.transcribe(graph_engine, sounds.speech("一三四二五" * 12), config)
    [final] = heard.finals
    *partials, whole = asked
    assert len(partials) > 10
    assert max(partials) < whole / 4
    told = [word.start_s for word in heard.of(Partial)[-1].alternatives[0].words]
    assert told == [word.start_s for word in final.alternatives[0].words][: len(told)]
