"""From samples to features: Kaldi's, Whisper's and NeMo's."""
