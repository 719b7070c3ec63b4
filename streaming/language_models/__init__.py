"""Language models that streams ask for by name, while an engine runs."""
