"""A small neural language model of sentences, which scores what the searches have found."""
