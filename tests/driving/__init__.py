"""What tests drive clusters with: without sockets, in time that the test moves, or as clients and processes.

`cluster.py` has brokers, time, and requests as values; `partition.py` one partition and who writes to it and
reads from it, `log.py` its log; `groups.py` and `transactions.py` their clients' steps as verbs; `many.py` a
cluster with many of everything. `in_memory.py`, `connections.py` and `faulty.py` begin with bytes, `wire.py`
writes them by hand. `network.py` connects raw clients to a cluster whose time goes by while they wait, and
`brokers.py` has the brokers of stories that real brokers tell too. The fixtures `cluster` and `driver`
(`tests/conftest.py`) make one of these for a test.

Of clusters that listen, `clients.py` has addresses and raw clients, `real_clients.py` producers and consumers
of confluent-kafka; `processes.py` runs the command `mockbroker`.
"""
