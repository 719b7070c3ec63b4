"""NeMo's .nemo archives: their members, their configuration, their tensors' names, their units."""
