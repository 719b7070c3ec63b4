"""Sayings: orders, commands, names and numbers, each drawn by a grammar."""
