"""Files of requests: received, heard as streams, and what became of them."""
