"""Chunks of many streams through a FastConformer, in torch and natively."""
