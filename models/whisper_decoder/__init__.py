"""Whisper's decoder (Radford 2022): writes text with capitals and marks for what was heard."""
