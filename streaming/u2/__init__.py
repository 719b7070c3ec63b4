"""The recogniser of U2 models: encoder and CTC, searches, attention rescoring."""
