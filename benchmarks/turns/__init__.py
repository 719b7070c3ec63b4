"""When utterances end, against how soon."""
