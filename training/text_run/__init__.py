"""Runs of networks over texts: what their trainers and recipes share."""
