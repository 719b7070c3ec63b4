"""Results: hypotheses, and words with times and confidences."""
