"""Features and batches."""
