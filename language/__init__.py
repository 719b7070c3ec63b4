"""Words: text normalisation both ways, G2P, lexica, n-grams and decoding graphs."""
