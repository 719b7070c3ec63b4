"""Corpora: manifests of recordings, and which of those are put aside."""
