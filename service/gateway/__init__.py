"""The server: application, connections, probes."""
