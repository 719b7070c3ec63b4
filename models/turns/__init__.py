"""Whether a speaker has finished: a rule of weights, and a head that hears it."""
