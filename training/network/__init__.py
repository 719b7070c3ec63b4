"""How a network begins, and what it is trained to do."""
