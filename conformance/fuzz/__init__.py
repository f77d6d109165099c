"""Malformed and hostile requests, in sessions that can be replayed: `python -m mockbroker.conformance.fuzz`.

A session is a list of steps against one cluster: bytes on its connections, operations, time that passes. It
is made from a mode and a seed. It is played on the core and `Connection`, without sockets; `served` sends its
requests to a server process. Whatever is sent, the broker has to go on, and to answer what can be read, in
order and by the schema; and a client that does nothing wrong must not notice.
"""
