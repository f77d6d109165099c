"""Creating topics and adding partitions."""
