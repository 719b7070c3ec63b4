"""The service: sockets, files, wire formats, admission, metrics, command line. No tensors."""
