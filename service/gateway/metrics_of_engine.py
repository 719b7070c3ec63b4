"""Gauges and counters read from the engine when Prometheus asks."""

import time
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from earshot.service.core.engine_port import EngineHost
from earshot.service.core.metrics import Metrics


def watch_engine(metrics: Metrics, engine: EngineHost) -> None:
    """Add the engine's own numbers to the metrics."""
    metrics.registry.register(_EngineCollector(engine))


class _EngineCollector(Collector):
    """Takes one snapshot per scrape, so that its numbers fit together."""

    def __init__(self, engine: EngineHost) -> None:
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        """Yield the engine's metrics."""
        stats = self._engine.stats
        search = stats.search
        gauges = {
            "engine_running": ("1 while the engine decodes", float(stats.running)),
            "late_engines": ("engines that do not answer", stats.late_engines),
            "streams_max": ("streams that fit", stats.max_streams),
            "live_streams": ("live streams open", stats.live_streams),
            "file_streams": ("file streams open", stats.file_streams),
            "backlog_seconds": ("audio waiting to be decoded, all streams", stats.backlog_s),
            "kept_slots": ("slots that could not be emptied", stats.kept_slots),
            "open_lms": ("language models open by name, in each engine", stats.open_lms),
        }
        counters = {
            "cpu_seconds": (
                "CPU time of the server, engines in processes of their own included",
                time.process_time() + stats.worker_cpu_s,
            ),
            "steps": ("engine steps", stats.steps),
            "lanes": ("streams summed over all steps", stats.lanes),
            "decoded_seconds": ("seconds of audio decoded", stats.audio_s),
            "partials": ("partial results", stats.partials),
            "finals": ("final results", stats.finals),
            "failed_streams": ("streams that failed", stats.failed_streams),
            "second_pass_failures": (
                "finals that the second pass raised at",
                stats.second_pass_failures,
            ),
            "search_overflows": ("frames with hypotheses dropped", search.overflows),
            "search_dead_ends": ("frames that no token survived", search.dead_ends),
            "search_nbest_timeouts": ("lists too long to be made", search.nbest_timeouts),
            "search_lattice_timeouts": ("lattices too large", search.lattice_timeouts),
            "lm_finals": ("finals ranked by language models by name", search.lm_finals),
            "lm_words": (
                "words of their lattices or lists, looked up in each model",
                search.lm_words,
            ),
            "lm_searched_finals": (
                "finals whose search asked language models by name",
                search.lm_searched_finals,
            ),
            "search_revised_prefixes": ("finals changing stable words", search.revised_prefixes),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"earshot_{name}", text, value=value)
        for name, (text, value) in counters.items():
            yield CounterMetricFamily(f"earshot_{name}", text, value=value)
