"""The WebSocket protocol of WhisperLiveKit's page."""
