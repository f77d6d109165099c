"""A proxy in a thread of its own, for tests."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import trio

from ..addresses import several
from ..cluster_options import check_names
from ..errors import ConflictError, NotRunningError, ScenarioFailedError, first_of
from ..faults import Fault
from ..protocol.releases import parse
from ..proxy_options import OPTIONS, MockProxyOptions
from ..security import Security
from ..server.submitted import Calls
from ..server.trace_control import TraceControl
from ..server.waiting import refuse_in_event_loop
from ..trace import Trace
from .options import ProxyOptions, UpstreamTls, mapped, played
from .proxy import Proxy

if TYPE_CHECKING:
    from ..server.security_calls import ClientName

T = TypeVar("T")


class MockProxy:
    """Stands in front of the cluster at `upstream` (`host:port,...`) until its `with` block ends.

    The options are those of `MockProxyOptions`. Entering it raises UpstreamError if no broker answers, or
    none that can be asked what behaviours need; FaultError, and UnknownPolicyError. A scenario ends with the
    block, which then raises ScenarioFailedError if it failed, unless it has raised something else. `lines`
    are what the command would print.
    """

    def __init__(self, upstream: str, **options: Unpack[MockProxyOptions]) -> None:
        """UnknownOptionError, UnknownReleaseError, OptionError; ValueError for an address, and for a scenario
        that a proxy can't play."""
        check_names(options, "MockProxy", OPTIONS)
        self._options = _options(upstream, **options)
        self.lines: list[str] = []
        self._proxy: Proxy | None = None
        self._trace: TraceControl | None = None
        self._error: BaseException | None = None
        self._up = threading.Event()
        self._calls = Calls(lambda: NotRunningError("the proxy has ended"))
        self._thread = threading.Thread(target=self._run, name="mockbroker proxy", daemon=True)

    def __enter__(self) -> "MockProxy":
        self._thread.start()
        self._up.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self

    def __exit__(self, _: object, raised: object, __: object) -> None:
        self._token.run_sync_soon(self._stop.set)
        self._thread.join()
        self._proxy = None
        if self._error is not None and not (raised and isinstance(self._error, ScenarioFailedError)):
            raise self._error

    @property
    def bootstrap_servers(self) -> str:
        """The proxy's listeners, one for each broker, as `host:port,...`."""
        return self._do(lambda proxy: proxy.bootstrap_servers)

    @property
    def faults(self) -> list[Fault]:
        """The faults, with their `hits`; `why` says why one has not fired."""
        return self._do(lambda proxy: proxy.faults)

    @property
    def control_url(self) -> str:
        """The address of the control API. ConflictError if the proxy was made without one."""
        url = self._do(lambda proxy: proxy.control_url)
        if url is None:
            raise ConflictError("this proxy has no control API: make it with control=True")
        return url

    @property
    def trace(self) -> TraceControl:
        """What clients say and are answered, with the faults that hit them: from the first use of this on, or
        with `trace=True` from the start."""
        if self._trace is None:
            self._trace = TraceControl(self._do, refuse_in_event_loop, self._do(_traced))
        return self._trace

    def client_settings(
        self,
        client: "ClientName",
        *,
        mechanism: str | None = None,
        user: str | None = None,
        password: str | None = None,
    ) -> dict[str, Any]:
        """What a client has to be configured with, as it spells it: addresses, certificates, and with a
        `mechanism` of SASL a login, which the cluster checks. OptionError, also for OAUTHBEARER, whose tokens
        come from elsewhere."""
        from ..control.clients import settings_of
        from ..server.security_calls import with_context

        access = self._do(lambda proxy: proxy.access(mechanism, user, password))
        return with_context(client, settings_of(access, client)[0])

    def add_fault(self, do: str, **given: Any) -> Fault:
        """Adds a fault, as `cluster.faults.add` does. FaultError, also for a fault that only a mock can bring
        about."""
        return self._do(lambda proxy: proxy.add_fault(do=do, **given))

    def remove_fault(self, fault: Fault) -> None:
        """Removes a fault."""
        self._do(lambda proxy: proxy.remove_fault(fault))

    def run_with_trace(self, function: Callable[[Trace], T]) -> T:
        """Calls `function` in the proxy's thread with the trace, whether or not it has begun."""
        return self._do(lambda proxy: function(proxy.trace))

    def _do(self, function: Callable[[Proxy], T]) -> T:
        proxy = self._proxy
        if proxy is None:
            raise NotRunningError("the proxy is not running: use it in a with block")
        if threading.current_thread() is self._thread:
            return function(proxy)
        return self._calls.submit(self._token, lambda: function(proxy)).result()

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except BaseException as error:
            self._error = first_of(error)
        finally:
            self._calls.end()
            self._up.set()

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._stop = trio.Event()
        proxy = Proxy(self._options, self.lines.append)
        async with proxy.running() as self._proxy:
            self._up.set()
            await self._stop.wait()
        if proxy.scenario_failures:
            raise ScenarioFailedError("the scenario failed: " + "\n".join(proxy.scenario_failures))


def _options(
    upstream: str,
    *,
    upstream_map: Mapping[str, str] | None = None,
    scenario: str | Path | None = None,
    kafka: str | None = None,
    control: bool | int = False,
    upstream_tls: bool = False,
    upstream_ca: str | Path | None = None,
    upstream_certificate: str | Path | None = None,
    upstream_key: str | Path | None = None,
    security: Security | Mapping[str, Any] | None = None,
    **others: Any,
) -> ProxyOptions:
    """UnknownReleaseError, OptionError, ValueError."""
    pairs = [f"{theirs}={ours}" for theirs, ours in (upstream_map or {}).items()]
    return ProxyOptions(
        several(upstream, "upstream"),
        map=mapped(pairs, "upstream_map"),
        scenario=played(scenario),
        kafka=None if kafka is None else parse(kafka),
        control=_port(control),
        upstream_tls=UpstreamTls.of(upstream_tls, upstream_ca, upstream_certificate, upstream_key),
        security=Security.of(security),
        **others,
    )


def _port(control: bool | int) -> int | None:
    if isinstance(control, bool):
        return 0 if control else None
    return control


def _traced(proxy: Proxy) -> Trace:
    proxy.trace.start()
    return proxy.trace
