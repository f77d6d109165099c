"""Work that processes do side by side, with results in the order of the tasks."""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")
Result = TypeVar("Result")
Tell = Callable[[str], None]


def ending_signals() -> list[signal.Signals]:
    """The signals that tell this process to end: SIGHUP too, when a terminal is closed, unless `nohup`
    started it."""
    found = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found


def in_order(
    do: Callable[[Task], Result], tasks: Iterable[Task], count: int, ahead: int = 2
) -> Generator[Result, None, None]:
    """What `do`, a function of a module, makes of each task. `ahead` is how many tasks are queued for each of
    `count` processes; with one, this process does it all. Neither `do` nor tasks may have anything of the
    program that runs, which the processes don't import.

    If the caller stops early or is interrupted, no process is left running.
    """
    if count <= 1:
        yield from map(do, tasks)
        return
    # These take time to import, which whoever asks for `ending_signals` need not wait for.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent) as pool:
        running: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                with _no_interrupt(), _without_program():
                    running.append(pool.submit(do, task))
                if len(running) >= count * ahead:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def side_by_side(
    do: Callable[[Task, Tell], Result], tasks: Sequence[Task], count: int, tell: Tell = lambda _: None
) -> list[Result]:
    """The same for long tasks: each has a process of its own, at most `count` at a time, and may tell how far
    it is. All of them are ended when the caller is interrupted, or one of them fails. ChildProcessError if
    one was ended from outside."""
    if count <= 1:
        return [do(task, tell) for task in tasks]
    import multiprocessing
    from multiprocessing.connection import wait

    context = multiprocessing.get_context("spawn")
    results: dict[int, Result] = {}
    left = deque(enumerate(tasks))
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    try:
        while left or running:
            while left and len(running) < count:
                number, task = left.popleft()
                receives, sends = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(sends, do, task), daemon=True)
                with _no_interrupt(), _without_program():
                    process.start()
                sends.close()
                running[receives] = number, process
            ready = wait(list(running))
            for receives in [each for each in running if each in ready]:
                said, what = _received(receives)
                if said == _TELLS:
                    tell(what)
                    continue
                number, ended = running.pop(receives)
                receives.close()
                ended.join()
                if said == _FAILED:
                    raise what
                results[number] = what
    finally:
        for receives, (_, left_over) in running.items():
            left_over.terminate()
            left_over.join()
            receives.close()
    return [results[number] for number in range(len(tasks))]


_TELLS, _FAILED, _MADE = "tells", "failed", "made"


def _work(sends: "Connection", do: Callable[[Task, Tell], Result], task: Task) -> None:
    _end_with_parent()
    try:
        sends.send((_MADE, do(task, lambda text: sends.send((_TELLS, text)))))
    except Exception as error:
        sends.send((_FAILED, error))


def _received(receives: "Connection") -> tuple[str, Any]:
    try:
        said, what = receives.recv()
    except EOFError:
        return _FAILED, ChildProcessError("a process was ended before it was done: was there enough memory?")
    return said, what


def _end_with_parent() -> None:
    """Ends this process when the one that started it is gone, even if that was killed: it would wait for more
    to do for ever."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _without_program() -> Iterator[None]:
    """Processes that are started here don't run the program again: without `if __name__ == "__main__"` it
    would come to where it starts processes, and they would end."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Processes that are started here ignore Ctrl-C, which is handled by this one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
