"""Whisper's weights (Radford et al. 2022, arXiv:2212.04356) in each form that people have them."""
