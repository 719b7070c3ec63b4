"""Phones as a target of training: labels, losses and how far a model has come with them."""
