"""Clients of other services, each in an environment of its own, against a server of ours."""
