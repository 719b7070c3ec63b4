"""The first pass's searches, behind one face."""
