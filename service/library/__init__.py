"""Earshot in a Python program, without a server: what `import earshot` offers."""
