"""The recogniser of U2 models: encoder, searches, rescorers."""
