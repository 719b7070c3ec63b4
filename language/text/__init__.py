"""Text normalisation: from what people write to the words that they say."""
