"""CTC prefix beam search."""
