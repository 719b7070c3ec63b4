"""Claims about speed and accuracy, measured."""
