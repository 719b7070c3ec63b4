"""CTC prefix beam search and boost tables: kernels with one source for CPU and CUDA."""
