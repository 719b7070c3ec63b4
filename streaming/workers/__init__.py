"""Engines in processes of their own, one for each core, behind the face of a single engine."""
