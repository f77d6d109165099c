"""What is agreed upon before a connection serves requests."""
