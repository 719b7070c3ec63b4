"""What was heard: hypotheses, and words with times and confidences."""
