"""Texts as the tokens that Whisper's decoder has, and the words that it can write."""
