"""Live streams and long ones: how many, how fast, at what cost."""
