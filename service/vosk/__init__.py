"""The WebSocket protocol of vosk-server."""
