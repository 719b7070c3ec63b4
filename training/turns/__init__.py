"""The head that hears the ends of turns, fitted to pauses."""
