"""What of the control API a proxy has: its faults and its trace."""

from collections.abc import Callable
from typing import Final, NoReturn

from ..control.table import OPERATIONS
from ..control.target import Target
from ..duration import Duration
from ..errors import ConflictError
from .upstream import Upstream

OFFERED: Final = frozenset(name for name in OPERATIONS if name.startswith("faults ") or name == "trace list")


def target_of(upstream: Upstream, bootstrap_servers: str, poke: Callable[[], None]) -> Target:
    """The proxy as operations act on it. `poke` brings it up to the present time."""
    trace = upstream.trace
    return Target(
        upstream.as_cluster, upstream.faults, trace, bootstrap_servers, poke, _no_clock, trace.start
    )


def _no_clock(_: Duration) -> NoReturn:
    raise ConflictError("the time of a real cluster can't be moved")
