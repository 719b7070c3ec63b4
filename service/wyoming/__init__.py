"""The TCP protocol of Wyoming, which Home Assistant speaks."""
