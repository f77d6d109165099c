"""Incidents of real clusters, made on purpose and recorded, and ordinary operations that are none.

Three brokers and a controller, clients in Java, C and Python; what they write is kept, with what is true
of it: `python -m mockbroker.rig record incidents`. A clock that is stepped needs Debian's faketime.
"""

from .recording import Incidents

STORIES = Incidents()

__all__ = ["STORIES"]
