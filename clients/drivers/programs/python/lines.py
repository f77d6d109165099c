"""What drivers in Python share: requests are read from one file descriptor, answers and events are written to
another, one JSON object a line (docs/drivers.md). Needs nothing but Python.
"""

import base64
import faulthandler
import functools
import json
import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar

Fields = dict[str, Any]
PROTOCOL = 2
REQUESTS = "MOCKBROKER_DRIVER_REQUESTS"
ANSWERS = "MOCKBROKER_DRIVER_ANSWERS"
LOGS = "MOCKBROKER_DRIVER_LOGS" in os.environ
"""Whether to print what the library logs, as an application does that has set up logging."""
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_IDLE_S = 0.02
_BINARY = ("key", "value")


def log_as_applications_do(*loggers: str) -> None:
    """Prints what all loggers say at INFO, if that is wanted; else these are silent."""
    if LOGS:
        logging.basicConfig(level=logging.INFO, format=_FORMAT)
    for name in () if LOGS else loggers:
        logging.getLogger(name).addHandler(logging.NullHandler())


class Lines:
    """The two descriptors. Any thread may write."""

    def __init__(self) -> None:
        # Python's own stacks are the evidence when a call never returns.
        faulthandler.register(signal.SIGUSR1, all_threads=True)
        self.requests = os.fdopen(int(os.environ[REQUESTS]), "r", encoding="utf-8")
        self._answers = os.fdopen(int(os.environ[ANSWERS]), "w", encoding="utf-8")
        self._lock = threading.Lock()

    def hello(
        self,
        client: str,
        capabilities: Iterable[str],
        settings: Mapping[str, Iterable[str]] | None = None,
        untimed: Iterable[str] = (),
        *,
        begins: bool = False,
    ) -> None:
        """`settings` are those that the driver takes, by kind of handle. If it `begins`, it says when calls
        with a timeout do."""
        self.write(
            event="hello",
            protocol=PROTOCOL,
            client=client,
            capabilities=list(capabilities),
            settings={kind: sorted(names) for kind, names in (settings or {}).items()},
            stack="SIGUSR1",
            untimed=list(untimed),
            begins=begins,
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
        self.at_once: bool = request.pop("at_once", False)
        """Whether the calls that follow don't wait for it."""
        self.fields = request
        for name in _BINARY:
            if request.get(name) is not None:
                request[name] = base64.b64decode(request[name])
        if "headers" in request:
            request["headers"] = [
                (name, None if value is None else base64.b64decode(value))
                for name, value in request["headers"]
            ]

    def begins(self) -> None:
        """Says so: calls before it may have taken their time."""
        if "timeout_ms" in self.fields:
            self._lines.write(event="begins", id=self.id)

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

    settings: ClassVar[Collection[str]] = ()
    """Those that it takes."""

    def __init__(self, name: str, lines: Lines) -> None:
        self._name, self._lines = name, lines
        self._calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._stops_at: Collection[str] = ()
        self._goes_on = threading.Event()
        self.free: Callable[[], object] = lambda: None

    def idle(self) -> None:
        """Called every 20 ms while there is nothing else to do."""

    def event(self, event: str, **fields: Any) -> None:
        """Writes an event. At one of `stops_at` the calls that follow are made here, up to `go-on`."""
        self._goes_on.clear()
        self._lines.write(event=event, handle=self._name, **fields)
        while event in self._stops_at and not self._goes_on.is_set():
            self._next()

    def go_on(self) -> None:
        self._goes_on.set()

    def put(self, call: Call) -> None:
        self._calls.put(call)

    def run(self) -> None:
        """Makes calls, one after the other, until the handle is closed."""
        while self._next() != "close":
            pass

    def _next(self) -> str | None:
        """Makes the next call, and returns its verb; None if there is none yet."""
        try:
            call = self._calls.get(timeout=_IDLE_S)
        except queue.Empty:
            self.idle()
            return None
        if call.at_once:
            threading.Thread(target=self._make, args=(call,), daemon=True).start()
        else:
            self._make(call)
        return call.verb

    def _make(self, call: Call) -> None:
        try:
            method = method_of(self, call)
            if call.verb == "subscribe":
                self._stops_at = call.fields.pop("stops_at", ())
            if call.verb == "produce":
                method(call, **call.fields)
                return
            call.begins()
            result = method(**call.fields)
        except BaseException as error:
            self._end_with(call)
            call.fail(error, raised=True)
        else:
            self._end_with(call)
            call.answer(result)

    def _end_with(self, call: Call) -> None:
        """The name is free once it is known that the handle is closed, but not before: `close` may stop at an
        event."""
        if call.verb == "close":
            self.free()


def method_of(handle: object, call: Call) -> Any:
    """UnsupportedError if the handle has no such verb."""
    method = getattr(handle, call.verb, None)
    if method is None or call.verb in _NO_VERBS:
        raise UnsupportedError(f"{call.handle or 'nothing'} has no verb {call.verb}")
    return method


_NO_VERBS = frozenset({*vars(Handle), "free"}) - {"go_on"}


def serve(
    client: str,
    capabilities: Iterable[str],
    kinds: Mapping[str, Callable[[str, Lines, Fields], Handle]],
    described: Callable[[BaseException], Fields],
    untimed: Iterable[str] = (),
) -> None:
    """Serves until the requests end. Each handle has a thread, which makes its calls one after the other.

    `kinds` are classes of handles, which are made of a name, the lines and the fields of `open`; `untimed`
    are the verbs to which the library gives no timeout.
    """
    lines = Lines()
    lines.hello(client, capabilities, settings_of(kinds), untimed, begins=True)
    threads: dict[str, _Thread] = {}
    for line in lines.requests:
        call = Call(lines, json.loads(line), described)
        if call.handle not in threads:
            threads[call.handle] = _Thread(kinds, lines, functools.partial(threads.pop, call.handle))
        threads[call.handle].put(call)
    os._exit(0)  # whatever a client's threads do


def settings_of(kinds: Mapping[str, Any]) -> dict[str, Collection[str]]:
    return {kind: each.settings for kind, each in kinds.items()}


class _Thread:
    """The thread of one handle, from `open` to `close`."""

    def __init__(
        self,
        kinds: Mapping[str, Callable[[str, Lines, Fields], Handle]],
        lines: Lines,
        free: Callable[[], object],
    ) -> None:
        self._kinds, self._lines, self._free = kinds, lines, free
        self._handle: Handle | None = None
        self._early: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._lock = threading.Lock()
        threading.Thread(target=self._run, daemon=True).start()

    def put(self, call: Call) -> None:
        with self._lock:
            (self._early if self._handle is None else self._handle).put(call)

    def _run(self) -> None:
        while self._handle is None:
            call = self._early.get()
            call.begins()
            try:
                if call.verb != "open":
                    raise UnsupportedError(f"{call.handle or 'nothing'} is not open")
                self._open(self._kinds[call.fields.pop("kind")](call.handle, self._lines, call.fields))
                call.answer()
            except BaseException as error:
                call.fail(error, raised=True)
        self._handle.run()

    def _open(self, handle: Handle) -> None:
        """Calls that came meanwhile are its first."""
        with self._lock:
            handle.free = self._free
            while not self._early.empty():
                handle.put(self._early.get())
            self._handle = handle


def record(
    topic: str,
    partition: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] | None = None,
    leader_epoch: int | None = None,
) -> dict[str, Any]:
    """A record that was read."""
    read = {
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "key": _text(key),
        "value": _text(value),
    }
    if headers:
        read["headers"] = [[name, _text(each)] for name, each in headers]
    return read if leader_epoch is None else {**read, "leader_epoch": leader_epoch}


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


_SECURITY = {
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "sasl.oauthbearer.config": "sasl_oauth_token_provider",
}
"""Librdkafka's names of settings for which Kafka's Java client has none, and those of libraries in Python."""
_UNSECURED = "enable.sasl.oauthbearer.unsecure.jwt"
"""Which librdkafka needs beside `sasl.oauthbearer.config`."""


def named(known: Iterable[str]) -> list[str]:
    """Kafka's names of settings whose names a library writes with underscores."""
    return [*(name.replace("_", ".") for name in known if not name.startswith("_")), *_SECURITY, _UNSECURED]


def configured(config: Fields, assignors: Iterable[Any] = ()) -> Fields:
    """Settings of a library that writes their names with underscores, takes `acks` as a number or `all`, and
    assignors as classes that have a `name`."""
    given = {_SECURITY.get(name, name.replace(".", "_")): value for name, value in config.items()}
    given.pop(_UNSECURED.replace(".", "_"), None)
    if given.get("acks", "all") != "all":
        given["acks"] = int(given["acks"])
    if given.get("compression_type") == "none":
        del given["compression_type"]  # these libraries call it None, and it is the default
    if wanted := given.get("partition_assignment_strategy"):
        given["partition_assignment_strategy"] = [each for each in assignors if each.name == wanted]
    return given


def taking(setting: str, names: Iterable[str]) -> list[str]:
    """Capabilities: the values that the driver takes of a setting."""
    return [f"{setting}={name}" for name in names]


ADMIN = ("delete-topic", "alter-config", "describe-config", "delete-records", "list-offsets")
"""Capabilities of drivers whose admin client has these verbs."""
CODEC = "compression.type"
ASSIGNOR = "partition.assignment.strategy"


def codecs(of_library: Any) -> list[str]:
    """As capabilities, what the `codec` module of a library finds installed."""
    every = ("gzip", "snappy", "lz4", "zstd")
    return taking(CODEC, [name for name in every if getattr(of_library, f"has_{name}", bool)()])


def unsecured_token(claims: str) -> str:
    """A token of which librdkafka's `sasl.oauthbearer.config` says the principal and the lifetime (RFC 7515,
    with the algorithm `none`)."""
    said = dict(each.split("=", 1) for each in claims.split())
    now = int(time.time())
    lasts = int(said.get("lifeSeconds", 3600))
    parts: tuple[Fields, ...] = {"alg": "none"}, {"sub": said["principal"], "iat": now, "exp": now + lasts}
    coded = (base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in parts)
    return b".".join([*coded, b""]).decode()


def wanted(topics: list[str]) -> Fields:
    """What to subscribe to, for libraries that take a regular expression as another parameter than topics."""
    return {"pattern": topics[0]} if topics[0].startswith("^") else {"topics": topics}
