"""What nobody should send, in sessions that can be played again: `python -m mockbroker.conformance.fuzz`.

A session is a list of steps against one cluster: bytes on its connections, operations, time going by. Its
seed and its mode make it. It is played on the core and `Connection`, without sockets; `served` sends
its requests to a server process.
Whatever comes, the broker goes on, answers what can be read in order and as the schema has it, and a client
that does nothing wrong does not notice.
"""
