"""What happens on a connection before it serves requests."""
