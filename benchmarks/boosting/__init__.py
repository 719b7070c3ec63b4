"""What boosts do for words that are said, and for those that are not."""
