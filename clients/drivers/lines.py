"""What drivers and the tester say to each other, one JSON object a line."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mockbroker.errors import MockBrokerError

PROTOCOL: Final = 2
READ: Final = (1, PROTOCOL)
"""Protocol 1 has no `settings` in its hello."""
REQUESTS: Final = "MOCKBROKER_DRIVER_REQUESTS"
"""Environment variable: the number of the file descriptor that a driver reads requests from."""
ANSWERS: Final = "MOCKBROKER_DRIVER_ANSWERS"
"""And of the one that it writes answers and events to."""
LOGS: Final = "MOCKBROKER_DRIVER_LOGS"
"""Environment variable: if it is set, drivers in Python and of KafkaJS print what they log at INFO."""
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Hello:
    """A driver's first line. `stack` is the signal that makes it print its stacks, if there is one; `untimed`
    are verbs whose calls can't be given a timeout. `settings` are those that it takes, by kind of handle;
    None if it does not say, as in protocol 1."""

    client: str
    capabilities: frozenset[str]
    stack: str | None
    untimed: frozenset[str] = frozenset()
    begins: bool = False
    """Whether it says when a call with a timeout begins: those before it may block, as `produce` does."""
    settings: Mapping[str, frozenset[str]] | None = None

    def taken(self, kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """What the driver takes of a configuration: the rest would change nothing."""
        if self.settings is None:
            return dict(config)
        taken = self.settings.get(kind, frozenset())
        return {name: value for name, value in config.items() if name in taken}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error that the client told its user.

    `code` is Kafka's error code if the client says one; a flag is None if the client doesn't say. `raised`:
    the call of `produce` raised it itself, so that the record was never accepted.
    """

    name: str
    message: str
    code: int | None = None
    raised: bool = False
    fatal: bool | None = None
    retriable: bool | None = None
    abortable: bool | None = None
    deserializer: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call returned, or the error that it raised."""

    ok: Mapping[str, Any] | None
    error: Refusal | None


class DriverFailedError(MockBrokerError, RuntimeError):
    """A driver that died, or printed what is no line of the protocol; the text has its last output."""


class OverdueError(MockBrokerError, TimeoutError):
    """A call did not return by its own timeout, nor in the time allowed on top of it.

    `busy_s` is how long the driver's threads ran or waited for a processor meanwhile, None where that is not
    known; `stacks` is what the driver printed when it was asked for them.
    """

    def __init__(self, verb: str, waited_s: float, busy_s: float | None, stacks: str) -> None:
        busy = "" if busy_s is None else f"; meanwhile it was busy for {busy_s:.1f} s"
        super().__init__(f"{verb} has not returned after {waited_s:.1f} s{busy}")
        self.verb, self.waited_s, self.busy_s, self.stacks = verb, waited_s, busy_s, stacks

    @property
    def spins(self) -> bool:
        """Whether it was busy for most of the time."""
        return self.busy_s is not None and self.busy_s > 0.6 * self.waited_s


def encode(request: Mapping[str, Any]) -> bytes:
    """A line; binary values are in base64."""
    return json.dumps({name: _plain(value) for name, value in request.items()}).encode() + b"\n"


def _plain(value: Any) -> Any:
    return encoded(value) if isinstance(value, bytes) else value


def encoded(value: bytes | None) -> str | None:
    """A value of a header; those of records are encoded with their line."""
    return None if value is None else base64.b64encode(value).decode()


def decode(line: bytes) -> dict[str, Any]:
    """ValueError if it is not a JSON object."""
    try:
        decoded = json.loads(line)
    except ValueError:
        decoded = None
    if not isinstance(decoded, dict):
        raise ValueError(f"not a JSON object: {line[:_SHOWN]!r}")
    return decoded


def hello(line: Mapping[str, Any]) -> Hello:
    """ValueError if it is another line."""
    if line.get("event") != "hello":
        raise ValueError(f"the first line has to be the event hello, not {str(line)[:_SHOWN]}")
    if line.get("protocol") not in READ:
        raise ValueError(f"protocol {line.get('protocol')!r}: this version of mockbroker speaks {PROTOCOL}")
    settings = line["settings"] if line["protocol"] == PROTOCOL else None
    return Hello(
        str(line["client"]),
        frozenset(line.get("capabilities", ())),
        line.get("stack"),
        frozenset(line.get("untimed", ())),
        bool(line.get("begins")),
        None if settings is None else {kind: frozenset(names) for kind, names in settings.items()},
    )


def answer(line: Mapping[str, Any]) -> Answer:
    """ValueError if it is no answer."""
    if "error" in line:
        return Answer(None, refusal(line["error"]))
    if not isinstance(line.get("ok"), dict):
        raise ValueError(f"an answer has `ok`, an object, or `error`: {str(line)[:_SHOWN]}")
    return Answer(line["ok"], None)


def refusal(error: Any) -> Refusal:
    """ValueError if it is no error."""
    if not isinstance(error, dict) or "name" not in error:
        raise ValueError(f"an error is an object with a name: {str(error)[:_SHOWN]}")
    known = {name: error[name] for name in Refusal.__dataclass_fields__ if name in error}
    return Refusal(**{"message": "", **known})


def binary(text: str | None) -> bytes | None:
    """A key or a value of a record that was read."""
    return None if text is None else base64.b64decode(text)
