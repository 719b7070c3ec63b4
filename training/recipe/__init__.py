"""Recipes: what a training run is told."""
