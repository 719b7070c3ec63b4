"""Boosts: from phrases as people write them to tables of the searches."""
