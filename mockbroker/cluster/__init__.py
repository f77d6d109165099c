"""The state of a cluster: brokers, topics, partitions, configuration, time."""
