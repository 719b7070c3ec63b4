"""The recipe that made the bundled model: ``python -m earshot.training --help``."""
