"""Engines from what lies on a disk: model families, and the factory."""
