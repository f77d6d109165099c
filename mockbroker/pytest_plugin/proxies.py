"""The proxy of a test, and what to report about it when it is over."""

import contextlib
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..errors import OptionError, ScenarioFailedError
from .options import MARKER, PROXY
from .watching import Watch, last

if TYPE_CHECKING:
    from ..faults import Fault
    from ..server.mock_cluster import MockCluster

__tracebackhide__ = True
OPTION: Final = "--mockbroker-upstream"
INI: Final = "mockbroker_upstream"
_OF_MOCKS: Final = ("faults", "policies", "fixed")
"""Options of clusters that say what is to be found out: without them a test would show something else."""


class WatchedProxy(Watch):
    """A proxy in front of the cluster at `upstream`. It runs until `stop`. What MockProxy raises."""

    def __init__(self, upstream: str, options: Mapping[str, Any]) -> None:
        super().__init__()
        from ..proxying.mock_proxy import MockProxy

        self._upstream = upstream
        self._failed_scenario = ""
        self._running = contextlib.ExitStack()
        self.proxy: MockProxy = self._running.enter_context(
            MockProxy(upstream, **{"trace": "requests", **options})
        )
        self._added = self.proxy.faults
        self._trace = self.proxy.run_with_trace(lambda trace: trace)
        self._servers = self.proxy.bootstrap_servers

    @property
    def _faults(self) -> "list[Fault]":
        return self._added

    def stop(self) -> list[str]:
        """Stops the proxy; returns the error that had ended it before, if there was one."""
        try:
            self._running.close()
        except ScenarioFailedError as error:
            self._failed_scenario = str(error)
            return []
        except BaseException as error:
            return ["the proxy ended by an error:\n" + "".join(traceback.format_exception(error)).rstrip()]
        return []

    def problems(self, *, over: bool) -> list[str]:
        """What the test should fail of, each only once."""
        told = self._failed_scenario
        if not told:
            return list(self.never_fired(over=over))
        for fault in self._added:
            # The scenario tells of its own faults.
            if str(fault) in told:
                self.is_news(fault)
        return [told, *self.never_fired(over=over)]

    def describe(self, failure: str) -> str:
        """What somebody who looks at a failed test wants to know, except what `failure` has already said."""
        lines = [*self.proxy.lines, *self.not_said(failure)]
        lines.append(f"proxy at {self._servers}, in front of {self._upstream}")
        return "\n".join([*lines, *self.hits(), *last(self._trace)])


def of_mock(cluster: "MockCluster") -> dict[str, Any]:
    """What a proxy in front of it needs."""
    access = cluster.do(lambda target: target.access)
    if not access.listeners[0].protocol.endswith("SSL"):
        return {}
    return {"upstream_tls": True, "upstream_ca": access.ca}


def check_cluster_options(given: Mapping[str, Any], upstream: str) -> None:
    """OptionError for what only the mock could do that `upstream` takes the place of."""
    for name in _OF_MOCKS:
        if given.get(name):
            raise OptionError(
                f"@pytest.mark.{MARKER} has {name}, but this run is in front of {upstream}, and not of "
                f"mock_cluster: give @pytest.mark.{PROXY} what a proxy can do, or leave the test out"
            )
