"""A cluster in a test, driven without sockets, on a clock that the test moves.

`cluster.py` has brokers, time, and requests as values; `partition.py` one partition and who writes to it and
reads from it; `groups.py` and `transactions.py` their clients' steps as verbs; `many.py` a cluster with many
of everything. `in_memory.py` and `connections.py` begin with bytes, `wire.py` writes them by hand.
"""
