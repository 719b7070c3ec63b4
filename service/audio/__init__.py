"""From bytes of any kind to float32 mono samples at the model's rate."""
