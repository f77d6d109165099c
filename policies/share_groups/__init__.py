"""Share groups, and the states of their share partitions."""
