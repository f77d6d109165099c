"""Benchmark of mockbroker against other mocks of Kafka, over raw sockets. See README.md."""
