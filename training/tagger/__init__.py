"""Training of the tagger of capitals and marks, on texts that have them."""
