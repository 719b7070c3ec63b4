"""When a speaker has finished, by what was said and how long it has been quiet."""
