"""For each API the requests with n entries, to a cluster with many of everything."""

from . import administration, groups, records, topics, transactions
from .about import REQUESTS

__all__ = ["REQUESTS", "administration", "groups", "records", "topics", "transactions"]
