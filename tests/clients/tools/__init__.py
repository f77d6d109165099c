"""What Kafka's tools and kcat print, recorded with real brokers (`python -m tests.clients.tools`).

A file in `sessions/` is played from its top to its end, in a cluster of its own. Lines with `$` are commands,
and those with `>` are what else happens (`actions.py`). Below a command is what it prints.
"""
