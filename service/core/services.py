"""Services that request handlers share: one instance per server, built by the app factory."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from earshot.service.audio.unpacking.unpackers import Unpackers
from earshot.service.core.admission import Admission
from earshot.service.core.engine_port import EnginePort
from earshot.service.core.live_work import LiveWork
from earshot.service.core.metrics import Metrics
from earshot.service.core.stream_trace import StreamTraces
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings

WAITING_FILES = 3
"""Files that may upload or wait for each one being transcribed."""


@dataclass(frozen=True)
class Services:
    """The engine, the settings, and who is being served; what a protocol adds it derives.

    unpackers: who decodes what sockets send in containers.
    traces: of the last streams, where they may be looked at.
    """

    engine: EnginePort
    model: ServedModel
    settings: Settings
    metrics: Metrics
    admission: Admission
    file_threads: ThreadPoolExecutor
    unpackers: Unpackers
    traces: StreamTraces | None = None
    work: LiveWork = field(default_factory=LiveWork)

    @classmethod
    def build(
        cls, engine: EnginePort, model: ServedModel, settings: Settings, metrics: Metrics
    ) -> "Services":
        """Derive the admission and the threads from the settings."""
        return cls(
            engine=engine,
            model=model,
            settings=settings,
            metrics=metrics,
            admission=Admission(engine, settings.max_files * (1 + WAITING_FILES)),
            unpackers=Unpackers(settings.max_containers, engine.sample_rate_hz),
            traces=StreamTraces() if settings.debug else None,
            file_threads=ThreadPoolExecutor(settings.max_files, thread_name_prefix="file"),
        )


def services_of(connection: HTTPConnection) -> Services:
    """Return the server's services for a request or socket."""
    services: Services = connection.app.state.services
    return services
