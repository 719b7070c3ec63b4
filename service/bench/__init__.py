"""An open-loop load generator: how many live streams does a server carry, and how late are they?

Clients speak in real time whether or not the server keeps up, from staggered random starts, each
with its own order of utterances; latencies count from when audio was due, so that a client that
stalls hides nothing.
"""
