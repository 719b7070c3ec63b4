"""Containers that come over a socket, decoded by FFmpeg while they come."""
