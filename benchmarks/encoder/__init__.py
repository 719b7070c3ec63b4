"""What a chunk costs in the encoder."""
