"""The memory that the boost tables of an engine's streams take together."""

from earshot.streaming.engine_config import EngineConfig

BOOST_STATES_PER_STREAM = 1024
"""On average: a hundred phrases of ten tokens. A stream may take more while others take less."""


def boost_capacity(config: EngineConfig) -> int:
    """States of all streams' boost tables together, in each search that has some."""
    return BOOST_STATES_PER_STREAM * max(config.max_streams, 64)
