"""For each API the requests with n entries, to a cluster with many of everything.

An API without requests of its own here gets one that is made from its model.
"""

from mockbroker.apis.registry import REGISTERED

from . import administration, groups, records, share_states, topics, transactions
from .about import REQUESTS, about
from .made import from_model

for _key in sorted(REGISTERED - {key for key, _ in REQUESTS}):
    about(_key)(from_model(_key))

__all__ = ["REQUESTS", "administration", "groups", "records", "share_states", "topics", "transactions"]
