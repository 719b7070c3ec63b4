"""The WebSocket protocol of WeNet's runtime."""
