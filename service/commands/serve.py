"""`earshot serve`: the page and /v1/listen."""

import argparse
import asyncio
from contextlib import nullcontext

from earshot.service.commands.options.console import say
from earshot.service.commands.options.settings_flags import add_settings_flags, settings_from
from earshot.service.settings import Settings, setting_names

NAMES = setting_names()
ENGINE_FAILED = 70
"""EX_SOFTWARE: not a usage error, and what supervisors that look at it start anew."""
LAST_S = 10.0
"""For threads that may hang behind a device that is lost; Python waits for them at its end."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one flag per setting."""
    parser.add_argument(
        "--show-config", action="store_true", help="print the effective settings as TOML and exit"
    )
    add_settings_flags(parser, NAMES)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal; returns 0 after a drain, ENGINE_FAILED where the engine gave up."""
    settings = settings_from(arguments, NAMES)
    if arguments.show_config:
        say(settings.as_toml())
        return 0
    settings.check_model()
    return _serve(settings)


def _serve(settings: Settings) -> int:
    # Imported here: --show-config and --help need none of it.
    from earshot.service.core.engine_setup import engines_of, running_engine, served_model, warm_up
    from earshot.service.core.metrics import Metrics
    from earshot.service.core.services import Services
    from earshot.service.gateway.app import create_app
    from earshot.service.gateway.exit_deadline import end_within
    from earshot.service.gateway.metrics_of_engine import watch_engine
    from earshot.service.gateway.server import Server, bind
    from earshot.service.http.request_log import configure_logging, log
    from earshot.service.wyoming.wyoming_server import WyomingServer
    from earshot.streaming.parts.graph import GRAPH, GraphDescription

    configure_logging(settings.log_level)
    metrics = Metrics()
    engines = engines_of(settings)
    port = settings.wyoming_port
    with (
        bind(settings.host, settings.port) as bound,
        nullcontext() if port is None else bind(settings.host, port) as for_wyoming,
        running_engine(settings, metrics.observe_step, engines) as engine,
    ):
        for _ in range(engines):  # who has had no stream yet gets the next
            warm_up(engine, engine.model.languages)
        watch_engine(metrics, engine)
        model = served_model(engine, settings)
        graph = engine.model.parts[GRAPH.name]
        words = graph.words if isinstance(graph, GraphDescription) else 0
        log.info(
            "model_loaded",
            model=model.name,
            version=model.version,
            arch=model.arch,
            precision=engine.model.precision,
            graph_words=words,
            engines=engines,
            max_streams=settings.streams_of(engines),
        )
        services = Services.build(engine, model, settings, metrics)
        others = [] if for_wyoming is None else [WyomingServer(services, for_wyoming)]
        server = Server(create_app(services), services, others)
        asyncio.run(server.serve([bound]))
        if not server.engine_failed:
            return 0
        end_within(LAST_S, ENGINE_FAILED)
        return ENGINE_FAILED
