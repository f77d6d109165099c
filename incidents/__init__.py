"""Incidents of real clusters, made on purpose and recorded, and ordinary operations that are none.

Up to four brokers and a controller, clients in Java, C, Python, Go and JavaScript; what they write is kept,
with what is true of it: `python -m mockbroker.rig record incidents`. A clock that is stepped needs Debian's
faketime, a disk that is full needs Linux and root.
"""

from .recording import Incidents

STORIES = Incidents()

__all__ = ["STORIES"]
