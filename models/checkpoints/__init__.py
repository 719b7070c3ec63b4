"""Model directories: formats, and the one door through which every model comes in."""
