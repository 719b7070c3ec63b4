"""The CUDA half: checked on a GPU, counted where there is none."""
