"""Counts what a program does instead of timing it: the same on every machine, however busy it is."""

from __future__ import annotations

import gc
import select
import socket
import sys
from types import FrameType
from typing import Any, NamedTuple, Self


class Steps:
    """Counts the bytecode instructions within. Meanwhile no garbage is collected: whatever that calls would
    count."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Self:
        self._before, self._collects = sys.gettrace(), gc.isenabled()
        gc.disable()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)
        if self._collects:
            gc.enable()

    def _enter(self, frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        self.count += event == "opcode"
        return self._step


class Cost(NamedTuple):
    """What was done: bytecode instructions, calls of functions written in C, and, of these, calls of a
    socket or of epoll."""

    opcodes: int
    c_calls: int
    system_calls: int


class Turns(Steps):
    """Counts what an event loop does between two looks at its sockets, in turns in which it reads from one.

    Linux only: it knows a look by a call of epoll.
    """

    def __init__(self) -> None:
        super().__init__()
        self.costs: list[Cost] = []
        self._since = self._c_calls = self._system_calls = 0
        self._reads = False

    def __enter__(self) -> Self:
        super().__enter__()
        self._profiled = sys.getprofile()
        sys.setprofile(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._profiled)
        super().__exit__()

    def _call(self, frame: FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            return
        owner = getattr(function, "__self__", None)
        if isinstance(owner, select.epoll) and function.__name__ == "poll":
            if self._reads:
                self.costs.append(Cost(self.count - self._since, self._c_calls, self._system_calls))
            self._since, self._c_calls, self._system_calls, self._reads = self.count, 0, 0, False
            return
        self._c_calls += 1
        if isinstance(owner, socket.socket | select.epoll):
            self._system_calls += 1
            self._reads |= function.__name__.startswith("recv")
