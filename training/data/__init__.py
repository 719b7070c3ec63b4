"""Corpora, features and batches."""
