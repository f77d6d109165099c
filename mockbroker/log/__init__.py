"""The log of a replica, with its leader epochs and producers."""
