"""The commands of `earshot`, one module each."""
