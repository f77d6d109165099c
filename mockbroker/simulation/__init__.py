"""Runs the core under a seeded scheduler: one seed is one history of a cluster, its clients and its
faults."""
