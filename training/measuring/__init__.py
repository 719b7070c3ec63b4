"""How well a model hears: word errors."""
