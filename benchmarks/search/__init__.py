"""Searches and graphs: speed, size, and what a language model brings."""
