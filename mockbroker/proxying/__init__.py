"""A proxy between clients and a real cluster, which brings faults to it. `Session` knows no socket."""

from .mock_proxy import MockProxy
from .options import ProxyOptions
from .proxy import Proxy

__all__ = ["MockProxy", "Proxy", "ProxyOptions"]
