"""HTTP and WebSockets, whatever is said over them."""
