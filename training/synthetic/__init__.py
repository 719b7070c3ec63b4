"""Synthetic speech: what is said, who says it how, and recordings that training can read."""
