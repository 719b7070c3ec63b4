"""Learning from a Whisper that hears everything at once."""
