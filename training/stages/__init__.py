"""Runs that follow each other, each from the model that the one before it leaves."""
