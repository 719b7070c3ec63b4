"""`/v1/listen` in the shape of Deepgram's API, and its Flux."""
