"""Structured logs: one JSON object per line, never holding recognised text unless asked for."""

import logging
import sys

import structlog

_FIELDS = ("request_id", "request_ids", "channel")

log: structlog.typing.FilteringBoundLogger = structlog.get_logger("earshot")


def configure_logging(level: str) -> None:
    """Send our logs and those of libraries to stderr as JSON lines."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    # Fields of a record, as the engine gives them: whose stream it is about.
    fields = structlog.stdlib.ExtraAdder(_FIELDS)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processor=structlog.processors.JSONRenderer(), foreign_pre_chain=[fields, *shared]
        )
    )
    # A refusal before accept is told by us; uvicorn takes it for a fault of the application.
    logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)
    # Libraries only when something is wrong: uvicorn logs whole query strings, keyterms included.
    logging.basicConfig(level=max(threshold, logging.WARNING), handlers=[handler], force=True)


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return "without completing handshake" not in record.getMessage()
