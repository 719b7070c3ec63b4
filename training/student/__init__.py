"""A FastConformer that learns from a U2 model, and becomes an archive of NeMo's."""
