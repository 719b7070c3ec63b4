"""Streaming decoding: slots, batches and two-pass results for many live streams at once.

Importing the package loads no torch. `streaming.assembly.engine_factory` builds an engine;
`streaming.events` and `streaming.stream_config` are what a caller of that engine needs to name.
"""
