"""Other projects' decoders, as the benchmarks drive them."""
