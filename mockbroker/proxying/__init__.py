"""A proxy between clients and a real cluster, which brings faults to it. `Session` knows no socket."""

from .options import ProxyOptions
from .proxy import Proxy

__all__ = ["Proxy", "ProxyOptions"]
