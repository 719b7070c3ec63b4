"""How well speech is recognised, and whether confidences are true."""
