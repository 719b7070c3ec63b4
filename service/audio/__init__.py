"""From bytes of any kind to float32 mono samples at 16 kHz."""
