"""What drivers in Python share: requests are read from one file descriptor, answers and events are written to
another, one JSON object a line (docs/drivers.md). Needs nothing but Python.
"""

import base64
import faulthandler
import json
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Fields = dict[str, Any]
PROTOCOL = 1
REQUESTS = "MOCKBROKER_DRIVER_REQUESTS"
ANSWERS = "MOCKBROKER_DRIVER_ANSWERS"
LOGS = "MOCKBROKER_DRIVER_LOGS" in os.environ
"""Whether to print what the library logs, as an application does that has set up logging."""
_IDLE_S = 0.02
_BINARY = ("key", "value")


class Lines:
    """The two descriptors. Any thread may write."""

    def __init__(self) -> None:
        # Python's own stacks are the evidence when a call never returns.
        faulthandler.register(signal.SIGUSR1, all_threads=True)
        self.requests = os.fdopen(int(os.environ[REQUESTS]), "r", encoding="utf-8")
        self._answers = os.fdopen(int(os.environ[ANSWERS]), "w", encoding="utf-8")
        self._lock = threading.Lock()

    def hello(self, client: str, capabilities: Iterable[str], untimed: Iterable[str] = ()) -> None:
        self.write(
            event="hello",
            protocol=PROTOCOL,
            client=client,
            capabilities=list(capabilities),
            stack="SIGUSR1",
            untimed=list(untimed),
        )

    def write(self, **line: Any) -> None:
        text = json.dumps(line)
        with self._lock:
            self._answers.write(text + "\n")
            self._answers.flush()


class Call:
    """A request, which is answered once, from any thread."""

    def __init__(self, lines: Lines, request: Fields, described: Callable[[BaseException], Fields]) -> None:
        self._lines, self._described = lines, described
        self.id = request.pop("id")
        self.verb: str = request.pop("do").replace("-", "_")
        self.handle: str = request.pop("handle", "")
        self.fields = request
        for name in _BINARY:
            if request.get(name) is not None:
                request[name] = base64.b64decode(request[name])
        if "headers" in request:
            headers = request["headers"]
            request["headers"] = [(name, value and base64.b64decode(value)) for name, value in headers]

    def answer(self, result: Mapping[str, Any] | None = None) -> None:
        self._lines.write(id=self.id, ok=dict(result or {}))

    def fail(self, error: BaseException, raised: bool = False) -> None:
        """`raised`: the call itself raised it."""
        if isinstance(error, UnsupportedError):
            self._lines.write(id=self.id, error={"name": "unsupported", "message": str(error)})
        else:
            self._lines.write(id=self.id, error={**self._described(error), "raised": raised})


class UnsupportedError(Exception):
    """A verb that the driver does not have."""


class Handle:
    """A client of the library under test. Methods are named like the verbs, with underscores; `produce` also
    gets the `Call`, and answers it later."""

    def __init__(self, name: str, lines: Lines) -> None:
        self._name, self._lines = name, lines

    def idle(self) -> None:
        """Called every 20 ms while there is nothing else to do."""

    def event(self, event: str, **fields: Any) -> None:
        self._lines.write(event=event, handle=self._name, **fields)


Open = Callable[[str, Lines, Fields], Handle]


def serve(
    client: str,
    capabilities: Iterable[str],
    open_: Mapping[str, Open],
    described: Callable[[BaseException], Fields],
    untimed: Iterable[str] = (),
) -> None:
    """Serves until the requests end. Each handle has a thread, which makes its calls one after the other.

    `open_` makes a handle from its name, the lines and the fields of `open`, by kind; `untimed` are the verbs
    to which the library gives no timeout.
    """
    lines = Lines()
    lines.hello(client, capabilities, untimed)
    queues: dict[str, queue.SimpleQueue[Call]] = {}
    for line in lines.requests:
        call = Call(lines, json.loads(line), described)
        if call.handle not in queues:
            queues[call.handle] = queue.SimpleQueue()
            threading.Thread(target=_run, args=(queues[call.handle], open_, lines), daemon=True).start()
        queues[call.handle].put(call)
        if call.verb == "close":
            del queues[call.handle]
    os._exit(0)  # whatever a client's threads do


def _run(calls: "queue.SimpleQueue[Call]", open_: Mapping[str, Open], lines: Lines) -> None:
    handle: Handle | None = None
    while True:
        try:
            call = calls.get(timeout=_IDLE_S)
        except queue.Empty:
            if handle is not None:
                handle.idle()
            continue
        try:
            if call.verb == "open":
                handle = open_[call.fields.pop("kind")](call.handle, lines, call.fields)
                call.answer()
                continue
            method = getattr(handle, call.verb, None)
            if method is None:
                raise UnsupportedError(f"{call.handle or 'nothing'} has no verb {call.verb}")
            if call.verb == "produce":
                method(call, **call.fields)
            else:
                call.answer(method(**call.fields))
        except BaseException as error:
            call.fail(error, raised=True)
        if call.verb == "close":
            return


def record(
    topic: str,
    partition: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] | None = None,
) -> dict[str, Any]:
    """A record that was read."""
    read = {
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "key": _text(key),
        "value": _text(value),
    }
    return {**read, "headers": [[name, _text(each)] for name, each in headers]} if headers else read


def _text(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


class BadPayloadError(ValueError):
    """What the deserializer raises for a value that it was told to refuse."""


def deserializer(fails_on: str | None) -> Callable[[bytes | None], bytes | None]:
    """Passes values as they are, but raises for those that begin with `fails_on`."""

    def deserialize(value: bytes | None) -> bytes | None:
        if fails_on and value is not None and value.startswith(fails_on.encode()):
            raise BadPayloadError(f"can't read {value[:20]!r}")
        return value

    return deserialize


def described(error: BaseException) -> Fields:
    """An error of a library whose errors have Kafka's code as `errno`."""
    code, retriable = getattr(error, "errno", None), getattr(error, "retriable", None)
    return {
        "name": type(error).__name__,
        "message": str(error),
        "code": code if isinstance(code, int) and code > 0 else None,
        "retriable": retriable if isinstance(retriable, bool) else None,
        "deserializer": isinstance(error, BadPayloadError),
    }


def configured(config: Fields, known: Iterable[str]) -> Fields:
    """The settings that a library knows, for one that writes their names with underscores and takes `acks` as
    a number or `all`."""
    given = {name.replace(".", "_"): value for name, value in config.items()}
    if given.get("acks", "all") != "all":
        given["acks"] = int(given["acks"])
    if given.get("compression_type") == "none":
        del given["compression_type"]  # these libraries call it None, and it is the default
    return {name: given[name] for name in known if name in given}
