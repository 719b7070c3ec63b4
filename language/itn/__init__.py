"""Inverse text normalisation: from words that were said to what people write."""
