"""Sessions, files and engines, whatever protocol asks."""
