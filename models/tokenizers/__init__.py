"""Between text and a model's output units."""
