"""What the benchmarks of graph search share: graphs, posteriors, and every decoder's adapter."""
