"""How fast training takes in sound, and synthesisers give it."""
