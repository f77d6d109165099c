"""For each API the requests with n entries, to a cluster with many of everything."""

from . import groups, records, topics, transactions
from .about import REQUESTS

__all__ = ["REQUESTS", "groups", "records", "topics", "transactions"]
