"""Moving the clock of a running cluster."""

from ..duration import Duration
from .calls import Calls

__tracebackhide__ = True


class ClockControl:
    """The clock of a running cluster."""

    def __init__(self, cluster: Calls) -> None:
        self._cluster = cluster

    @property
    def now_ms(self) -> int:
        """The cluster's Unix time, in ms."""
        return self._cluster.run(lambda core: core.now_ms)

    def advance(self, by: Duration) -> None:
        """Moves the clock ahead by `"7d"`, `"1h30m"` (units ms, s, m, h and d), milliseconds or a timedelta.

        Everything that is due by then happens, in order, each at its own time: records and offsets expire,
        members and transactions time out, requests that wait are answered. ValueError.
        """
        self._cluster.do(lambda target: target.advance(by))

    async def advance_async(self, by: Duration) -> None:
        """Like `advance`, under asyncio and trio; other tasks run meanwhile.

        If it is cancelled, the clock either has been advanced or has not.
        """
        await self._cluster._do_async(lambda target: target.advance(by))
