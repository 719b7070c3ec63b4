"""Answers in Deepgram's JSON."""
