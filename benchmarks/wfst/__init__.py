"""What the benchmarks of graph search share: graphs, posteriors, streams, errors."""
