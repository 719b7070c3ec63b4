"""Prometheus metrics of one server."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.platform_collector import PlatformCollector

from earshot.streaming.engine.engine_stats import StepReport

# Around a chunk's length in real time: 160 ms at chunk 4, 640 ms at chunk 16.
_LATENCY_BUCKETS_S = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 5.0)
_STEP_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
_BATCH_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters and histograms, in a registry of their own so that servers in tests do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.sessions = self._counter("sessions", "WebSocket sessions accepted")
        self.files = self._counter("files", "files transcribed")
        self.rejects = self._counter("rejects", "requests refused or failed, by code", ["code"])
        self.errors = self._counter("errors", "sessions ended by an error, by code", ["code"])
        self.audio_s = self._counter("audio_seconds", "seconds of audio decoded", ["kind"])
        self.live_sessions = Gauge(
            "earshot_live_sessions", "sockets open now", registry=self.registry
        )
        self.partial_latency_s = self._histogram(
            "partial_latency_seconds",
            "audio received to the partial covering it",
            _LATENCY_BUCKETS_S,
        )
        self.final_latency_s = self._histogram(
            "final_latency_seconds",
            "to a final from Finalize or the end of audio, or by endpoint from its last word's end",
            _LATENCY_BUCKETS_S,
            ["after"],
        )
        self.step_s = self._histogram(
            "step_duration_seconds", "one engine step over a batch", _STEP_BUCKETS_S
        )
        self.queue_wait_s = self._histogram(
            "queue_wait_seconds", "a stream's window being ready to its step", _STEP_BUCKETS_S
        )
        self.encoder_s = self._counter("encoder_seconds", "time in features and encoder")
        self.search_s = self._counter("search_seconds", "time in the first pass's search")
        self.second_pass_s = self._counter("second_pass_seconds", "time in rescoring")
        self.emit_s = self._counter("emit_seconds", "time in results: when and how sure")
        self.batch = self._histogram("batch_size", "streams in one engine step", _BATCH_BUCKETS)

    def observe_step(self, step: StepReport) -> None:
        """Take the engine's report of one step, on its thread."""
        self.step_s.observe(step.duration_s)
        self.batch.observe(step.lanes)
        self.encoder_s.inc(step.encoder_s)
        self.search_s.inc(step.search_s)
        self.second_pass_s.inc(step.second_pass_s)
        self.emit_s.inc(step.emit_s)
        for wait_s in step.queue_waits_s:
            self.queue_wait_s.observe(wait_s)

    def _counter(self, name: str, text: str, labels: list[str] | None = None) -> Counter:
        return Counter(f"earshot_{name}", text, labels or [], registry=self.registry)

    def _histogram(
        self, name: str, text: str, buckets: tuple[float, ...], labels: Sequence[str] = ()
    ) -> Histogram:
        return Histogram(f"earshot_{name}", text, labels, buckets=buckets, registry=self.registry)
