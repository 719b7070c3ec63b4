"""A training run: its loop, its state and what it leaves."""
