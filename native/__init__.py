"""The floor below both native libraries: what `csrc` gives the networks and the searches alike."""
