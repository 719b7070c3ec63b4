"""G2P: how words sound, by a lexicon or by a network that reads letters."""
