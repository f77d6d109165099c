"""`mockbroker serve`: the server in the foreground, and what it reports."""

import contextlib
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..processes import ending_signals
from ..repeats import SECONDS, Repeats, counted
from ..server.alone import Ending, Regular, ended_by, pumped
from ..server.failures import OutputLostError
from ..server.observer import Observer
from ..server.pump import ALONE_SECONDS
from ..server.serving import ServedCluster, listening, serve
from ..shown import shown
from .garbage import LOOK_SECONDS, REST_SECONDS, YOUNG_SECONDS, WhenIdle, WhileBusy, collect_young

if TYPE_CHECKING:
    import trio

    from ..faults import Fault
    from ..server.observer import ClientConnection
    from ..trace import Event


_NO_ADDRESS: Final = ("0.0.0.0", "::")
CLIENTS: Final = 1000
"""Of how many clients it tells one by one, until it sums up."""


class Observing(Observer, Protocol):
    """What users of the command are told."""

    def ready(self, served: ServedCluster, seconds: float) -> None:
        """It serves, so many seconds after the process has begun."""


class Report:
    """Prints the addresses first, then a line for each client and each refused request; lines that are alike
    are counted, see `Repeats`."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._arrow = arrow()
        self._clients: Counter[tuple[str, str]] = Counter()
        self._repeats = Repeats(self._repeated)

    def ready(self, served: ServedCluster, seconds: float) -> None:
        cluster = served.cluster
        for address in filter(None, (served.bootstrap_servers, served.control_url, served.console_url)):
            write(address)
        if self.quiet:
            return
        brokers = f"{len(cluster.brokers)} broker" + "s" * (len(cluster.brokers) != 1)
        where = f", listening on {served.listeners}" if served.listeners != served.bootstrap_servers else ""
        write(f"Kafka {cluster.release}, {brokers}{where}, ready after {seconds:.2f} s. Ctrl-C stops it.")
        for line in _files(served):
            write(line)
        if served.offsets is not None:
            write(
                "{offsets_records} records of {offsets_groups} groups in {offsets_partitions} partitions "
                "of the offsets topic{left_out}; it is {started}".format(
                    left_out=f", {served.offsets.left_out} left out" * bool(served.offsets.left_out),
                    **restored(served),
                )
            )
        for name, fault in illegal(served):
            write(f"fault {name}, {fault}: {fault.illegal}")
        if served.options.advertise is None and served.options.host in _NO_ADDRESS:
            _write_error(
                f"mockbroker serve: clients are told the address {served.options.host}, which works on "
                "this machine only: give --advertise HOST with an address that other machines can reach"
            )

    def identified(self, connection: "ClientConnection") -> None:
        client = _client(connection)
        self._clients[client] += 1
        if self._clients[client] == 1 and not self.quiet:
            # A client has several connections, of which only the first is worth a line.
            known = software(connection)
            what = f" ({known})" if known else ""
            line = f"{self._place(connection)}: {connection.client_id or 'no client id'}{what}"
            if self._repeats.is_new("client", line, CLIENTS):
                write(line)

    def malformed(self, connection: "ClientConnection", reason: str) -> None:
        self._warn(f"{self._place(connection)}: closed, {reason}")

    def mismatched(self, connection: "ClientConnection", why: str) -> None:
        self._warn(f"{self._place(connection)}: {why}")

    def failed(self, connection: "ClientConnection | None", error: Exception) -> None:
        self._warn(f"{error}{'' if isinstance(error, OutputLostError) else _place(error)}")

    def policy_failed(self, error: Exception) -> None:
        self._warn(f"{error}{_place(error)}")

    def full(self, reason: str) -> None:
        self._warn(f"mockbroker serve: {reason}")

    def disconnected(self, connection: "ClientConnection") -> None:
        client = _client(connection)
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]

    def sum_up(self) -> None:
        self._repeats.sum_up()

    def _repeated(self, subject: str, line: str, count: int, seconds: float) -> None:
        put = write if subject == "client" else _write_error
        put(counted(line, count, seconds))

    def _warn(self, line: str) -> None:
        if self._repeats.is_new("warning", line):
            _write_error(line)

    def _place(self, connection: "ClientConnection") -> str:
        return f"{connection.name} {self._arrow} broker {connection.broker.id}"


def write(line: str) -> None:
    """To stdout. If that is lost, stderr says so, once."""
    try:
        sys.stdout.write(shown(line) + "\n")
        sys.stdout.flush()
    except OSError as error:
        # Python would try at exit to write the rest again.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        _write_error(f"mockbroker serve: can't write to stdout: {error.strerror}; serving goes on")


def _write_error(line: str) -> None:
    # stderr may be closed too: then there is nowhere to report.
    with contextlib.suppress(OSError):
        sys.stderr.write(shown(line) + "\n")
        sys.stderr.flush()


def _files(served: ServedCluster) -> Iterator[str]:
    """What clients need, besides addresses."""
    if served.secured is None:
        return
    access = served.target.access
    for listener in access.listeners[1:]:
        yield f"{listener.name}, {listener.protocol}: {listener.servers}"
    from ..control.access import named

    for what, path in named(access):
        yield f"{what}: {path}"
    if served.secured.jwks is not None:
        yield f"keys of tokens (JWKS): {served.secured.jwks}"


def illegal(served: ServedCluster) -> "list[tuple[str, Fault]]":
    """The faults that do what no broker does."""
    return [(name, fault) for name, fault in served.target.named_faults().items() if fault.illegal]


def restored(served: ServedCluster) -> dict[str, Any]:
    """What the cluster was started with; nothing without `--offsets`."""
    offsets = served.offsets
    if offsets is None:
        return {}
    from ..dumps.offsets_topic import OFFSETS

    started = datetime.fromtimestamp(served.started_ms / 1000, UTC)
    return {
        "offsets_records": offsets.records,
        "offsets_groups": len(offsets.groups),
        "offsets_partitions": len(served.cluster.topics[OFFSETS].partitions),
        "offsets_left_out": offsets.left_out,
        "started": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def arrow() -> str:
    """An arrow that stdout can show."""
    try:
        "→".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "->"
    return "→"


def _place(error: Exception) -> str:
    """Where an error came from."""
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _client(connection: "ClientConnection") -> tuple[str, str]:
    """Whose connection it is, as far as the client said."""
    return f"{connection.client.host} {connection.client_id}", software(connection)


def software(connection: "ClientConnection") -> str:
    """What the client says that it is."""
    client = connection.client
    return " ".join(filter(None, (client.software_name, client.software_version)))


def run(
    report: Observing, *, trace_file: Path | None = None, until_stdin_closes: bool = False, **options: Any
) -> None:
    """Serves until a signal ends it, or until stdin closes. `trace_file` gets JSON lines as things happen, or
    Parquet at the end.

    OSError, ImportError without pyarrow; ValueError for a stdin that is closed already.
    """
    if until_stdin_closes:
        from . import stdin

        stdin.check_open()
    to: contextlib.AbstractContextManager[Callable[[Event], None] | None] = contextlib.nullcontext()
    if trace_file is not None:
        from .trace_file import written_to

        to = written_to(trace_file)
    options["trace"] = trace_file is not None or options["console"]
    with to as listener:
        if options["control"] is None:
            _run_alone(report, listener, [stdin.closing()] if until_stdin_closes else [], options)
        else:
            import trio

            trio.run(_run_in_trio, report, listener, stdin.closed if until_stdin_closes else None, options)


def _run_alone(
    report: Observing,
    listener: "Callable[[Event], None] | None",
    endings: list[Ending],
    options: Any,
) -> None:
    """Where nothing but the pump runs."""
    with ended_by(ending_signals()) as signals, listening(report, options) as served:
        served.pump.be_eager(ALONE_SECONDS)
        _begin(report, served, listener)
        regulars = (
            Regular(YOUNG_SECONDS, WhileBusy().look, wakes=False),
            Regular(LOOK_SECONDS, WhenIdle().look),
            Regular(SECONDS, served.reporting.sum_up),
        )
        pumped(served.pump, [signals, *endings], regulars)


def _begin(report: Observing, served: ServedCluster, listener: "Callable[[Event], None] | None") -> None:
    if listener is not None:
        served.pump.trace.attach(listener)
    collect_young()
    report.ready(served, _seconds_since_start())


async def _run_in_trio(
    report: Observing,
    listener: "Callable[[Event], None] | None",
    ended: Callable[[], Awaitable[None]] | None,
    options: Any,
) -> None:
    import trio

    from ..server.in_trio import regularly

    with trio.open_signal_receiver(*ending_signals()) as signals:
        async with serve(observer=report, **options) as served:
            served.pump.be_eager()
            _begin(report, served, listener)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_collect_while_busy)
                nursery.start_soon(regularly, LOOK_SECONDS, WhenIdle().look)
                if ended is not None:
                    nursery.start_soon(_cancel_after, ended, nursery.cancel_scope)
                async for _ in signals:
                    nursery.cancel_scope.cancel()
                    return


async def _collect_while_busy() -> None:
    import trio

    collector = WhileBusy()
    while True:
        await trio.sleep(YOUNG_SECONDS if collector.look() else REST_SECONDS)


async def _cancel_after(ended: Callable[[], Awaitable[None]], scope: "trio.CancelScope") -> None:
    await ended()
    scope.cancel()


def _seconds_since_start() -> float:
    """Since this process began, if the platform tells; else since the interpreter did."""
    try:
        with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
            ticks = int(stat.read().rsplit(")", 1)[1].split()[19])
            return float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.process_time()
