"""OpenAI's API: forms with files, realtime sessions of transcription, models."""
