"""The replicas of one broker: they lead or follow, keep their logs, and ask others through `Peers`."""
