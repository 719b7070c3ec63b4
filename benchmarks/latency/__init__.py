"""How long speakers and clients wait."""
