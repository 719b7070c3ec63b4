"""The engine: one thread that decodes every stream."""
