"""A broker to measure what the trace costs: `python -m benchmarks.traced without|idle|requests|on`.

`idle` is mockbroker as it is served, `requests` keeps what
happens but for bodies, `on` all of it, and `without` has no look for faults or for the
trace in the path of a request: the statements that do it are cut out of the source.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any, Final

from mockbroker.cli.serve import Report, run
from mockbroker.server.connection import Connection
from mockbroker.server.pump import Pump
from mockbroker.server.serving import ServedCluster

KINDS: Final = ("without", "idle", "requests", "on")
_LOOKS: Final = ("self.faults.armed", "self.trace.")


class _Tracing(Report):
    bodies = True

    def ready(self, served: ServedCluster, seconds: float) -> None:
        served.pump.watch(bodies=self.bodies)
        super().ready(served, seconds)


class _TracingRequests(_Tracing):
    bodies = False


class _Cut(ast.NodeTransformer):
    """Cuts statements that look for faults or tell the trace."""

    def __init__(self) -> None:
        self.cut = 0

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return self._without(node, ast.unparse(node.test)) or self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return self._without(node, ast.unparse(node))

    def _without(self, node: ast.stmt, text: str) -> ast.AST | None:
        if not any(look in text for look in _LOOKS):
            return node if isinstance(node, ast.Expr) else None
        self.cut += 1
        return ast.copy_location(ast.Pass(), node)


def without_looks(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but for those statements. LookupError when there are none."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    cutter = _Cut()
    tree = ast.fix_missing_locations(cutter.visit(tree))
    if not cutter.cut:
        raise LookupError(f"{function.__qualname__} looks for neither faults nor the trace")
    found: dict[str, Any] = {}
    exec(compile(tree, f"<{function.__qualname__}>", "exec"), function.__globals__, found)
    cut: Callable[..., Any] = found[function.__name__]
    return cut


def main() -> None:
    (kind,) = sys.argv[1:]
    if kind == "without":
        requests = ((Connection, "_answer_frame"), (Connection, "_deliver"))
        for owner, name in (*requests, (Pump, "_pump"), (Pump, "_follow")):
            setattr(owner, name, without_looks(getattr(owner, name)))
    reports = {"on": _Tracing, "requests": _TracingRequests}
    report = reports.get(kind, Report)(quiet=True, json_lines=False)
    run(report, brokers=1)


if __name__ == "__main__":
    main()
