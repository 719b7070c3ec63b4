"""What HTTP and WebSockets need, whatever is said over them."""
