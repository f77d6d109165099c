"""The log of a replica, and what it knows of leader epochs and producers."""
