"""The replicas of one broker: they lead or follow, keep their logs, and reach other brokers through
`Peers`."""
