"""Large language models: images as large as a disk, and the figures of the paper that asks them."""
