"""The proxy in the foreground, and what it reports."""

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Final

import trio
import typer

from ..control.access import named
from ..errors import first_of
from ..faults import Fault
from ..processes import ending_signals
from ..proxying import Proxy, ProxyOptions
from ..trace import Event
from .failing import say_shown
from .trace_file import written_to

_FAILED: Final = 3
"""A fault never fired, or the scenario failed."""


def run(options: ProxyOptions, *, quiet: bool, trace: Path | None = None) -> int:
    """Serves until a signal ends it; returns the exit status. `trace` gets JSON lines as things happen, or
    Parquet at the end. OSError, ValueError, ImportError without pyarrow."""
    try:
        with written_to(trace) as listener:
            proxy = trio.run(functools.partial(_main, options, listener, quiet=quiet))
    except BaseExceptionGroup as group:
        raise first_of(group) from None
    if not quiet:
        for fault in proxy.faults:
            typer.echo(_told(fault))
    unfired = any(not each.hits and not each.optional for each in proxy.faults)
    return _FAILED if unfired or proxy.scenario_failures else 0


def _told(fault: Fault) -> str:
    return fault.hits_in_words if fault.hits else f"{fault}: never fired, {fault.why_so_far}"


async def _main(options: ProxyOptions, listener: Callable[[Event], None] | None, *, quiet: bool) -> Proxy:
    with contextlib.ExitStack() as heeding:
        signals = heeding.enter_context(trio.open_signal_receiver(*ending_signals()))
        async with Proxy(options, functools.partial(say_shown, "proxy")).running() as proxy:
            if listener is not None:
                proxy.trace.attach(listener)
            typer.echo(proxy.bootstrap_servers)
            if proxy.control_url is not None:
                typer.echo(proxy.control_url)
            if not quiet:
                for what, path in named(proxy.access(None, None, None)):
                    typer.echo(f"{what}: {path}")
                count = len(proxy.faults)
                typer.echo(f"{count} fault{'s' * (count != 1)}. Ctrl-C stops it.")
            async for _ in signals:
                break
            if options.scenario is not None:
                # Its last checks may take a while: a second signal ends them, too.
                heeding.close()
    return proxy
