"""Boosted phrases and new words as tables that the searches read."""
