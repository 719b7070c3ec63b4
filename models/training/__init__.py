"""The recipe that made the bundled model: ``python -m models.training --help``."""
