"""The cluster on sockets."""
