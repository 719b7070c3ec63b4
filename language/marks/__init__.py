"""Capitals and marks: what a text looks like besides its words, and a tagger that says it."""
