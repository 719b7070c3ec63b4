"""A small neural language model of sentences, which judges what the searches have found."""
