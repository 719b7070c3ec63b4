"""`/v2/listen` in the shape of Deepgram's Flux: speech as turns."""
