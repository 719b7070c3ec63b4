"""One stream: its audio, its features, its segment."""
