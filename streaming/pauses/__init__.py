"""Where streams fall quiet."""
