"""What the networks are built of."""
