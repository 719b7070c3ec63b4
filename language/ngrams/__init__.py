"""How n-gram language models are made of text: cleaning, counting, smoothing, mixing, pruning."""
