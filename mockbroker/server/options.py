"""The options of a cluster; they are the same on the command line, in Python and in tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from ..cluster.endpoint import PLAINTEXT
from ..cluster_options import ClockName, check_names
from ..controller import topic_names
from ..errors import OptionError
from ..nearest import nearest
from ..protocol import releases
from ..security import Security
from ..tokens import check_token
from .advertised import addresses
from .start_time import start_ms

if TYPE_CHECKING:
    from ..dumps.offsets_topic import OffsetsTopic

CLOCKS: Final[tuple[ClockName, ...]] = get_args(ClockName)
REQUESTS: Final = "requests"
"""The trace without the bodies of requests and answers."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a cluster; their names are those of `ClusterOptions`. OptionError.

    - `kafka`: the release to act as.
    - `port`: that of the first broker, the others get the next ones; 0 for any free ports.
    - `advertise`: what clients are told in place of `host` and port; see `addresses`.
    - `config`, `policies`: overrides, by Kafka's configuration name and by behaviour name.
    - `topics`: created at the start, each with a number of partitions. They have a replica on each broker,
      but three at most, unless `config` has `default.replication.factor`.
    - `seed`: the same seed gives the same ids.
    - `racks`: the racks of brokers, by broker id.
    - `fixed`: chooses the fix wherever a behaviour has one, except where `policies` say otherwise.
    - `clock`: with "manual", time stands still until it is advanced.
    - `trace`: keeps what happens; with "requests", without the bodies of requests and answers.
    - `capture`: a pcapng file for everything that goes over the wire.
    - `control`: serves the control API on loopback, on this port or on any free one (0). If there is a
      `control_token`, only requests that send it are answered.
    - `console`: serves a page that shows the cluster beside the control API, and keeps the whole trace.
    - `faults`: faults that are there from the start, each with the fields that `Faults.add` takes, and
      optionally a `name`.
    - `offsets`: files of the offsets topic of another cluster, with which this one starts: segments, dumps of
      segments, or what a console consumer printed.
    - `now`: the time at which the cluster starts: text such as 2026-03-01T12:30:00Z, Unix time in ms, or a
      datetime, in UTC unless it says otherwise; "wall" for that of the wall clock. The default is the
      timestamp of the last record in `offsets`, without `offsets` the wall clock.
    - `security`: listeners, TLS and logins, as a `Security` or a dict of its fields; the default is one
      listener that is PLAINTEXT. Of several listeners, the ports of the second follow on those of the first,
      and `advertise` gives the hosts of all.
    """

    kafka: str = releases.NEWEST
    brokers: int = 3
    host: str = "127.0.0.1"
    port: int = 0
    advertise: str | Sequence[str] | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    policies: Mapping[str, Any] = field(default_factory=dict)
    topics: Mapping[str, int] = field(default_factory=dict)
    seed: int | None = None
    racks: Mapping[int, str] = field(default_factory=dict)
    fixed: bool = False
    trace: bool | Literal["requests"] = False
    capture: str | Path | None = None
    clock: str = "wall"
    control: int | None = None
    control_token: str | None = None
    console: bool = False
    faults: Sequence[Mapping[str, Any]] = ()
    offsets: "str | Path | Sequence[str | Path] | OffsetsTopic" = ()
    now: str | int | datetime | None = None
    security: "Security | Mapping[str, Any] | None" = None

    @classmethod
    def of(cls, given: Mapping[str, Any], where: str) -> "Options":
        """From what a user wrote: None means the default, and `control` may be True (any free port) or False.
        UnknownOptionError, OptionError."""
        check_names(given, where)
        values = {name: value for name, value in given.items() if value is not None}
        match values.get("control"):
            case False:
                del values["control"]
            case True:
                values["control"] = 0
        if values.get("console") is True:
            values = {"control": 0, "trace": True, **values}
        return cls(**values)

    def __post_init__(self) -> None:
        object.__setattr__(self, "security", Security.of(self.security))
        if not isinstance(self.kafka, str):
            raise OptionError(f"kafka is {self.kafka!r}: give a release as text, such as '3.9'")
        for name in ("config", "policies", "topics", "racks"):
            if not isinstance(getattr(self, name), Mapping):
                raise OptionError(f"{name} is {getattr(self, name)!r}: give a dict")
        if not isinstance(self.fixed, bool):
            raise OptionError(f"fixed is {self.fixed!r}: give True or False")
        if self.trace not in (True, False, REQUESTS):
            raise OptionError(f"trace is {self.trace!r}: give True, False or {REQUESTS!r}")
        for topic, partitions in self.topics.items():
            _check_topic(topic, partitions)
        if self.brokers < 1:
            raise OptionError(f"{self.brokers} brokers: a cluster has at least one")
        ports = self.brokers * len(self.listeners)
        if not 0 <= self.port <= 65536 - ports:
            raise OptionError(f"port {self.port}: choose 0, or 1 to {65536 - ports}")
        addresses(self.advertise, self.brokers)
        check_clock(self.clock)
        start_ms(self.now, 0)
        if self.control is not None and not 0 <= self.control <= 65535:
            raise OptionError(f"control port {self.control}: choose 0, or 1 to 65535")
        if not isinstance(self.console, bool):
            raise OptionError(f"console is {self.console!r}: give True or False")
        if self.console and (self.control is None or self.trace is not True):
            raise OptionError("the console needs the control API and the whole trace: don't switch them off")
        check_token(self.control_token)
        if self.control_token is not None and self.control is None:
            raise OptionError("there is a control token, but no control API: add one with control=True")
        for fault in self.faults:
            if not isinstance(fault, Mapping):
                example = {"do": "disconnect", "api": "Produce"}
                raise OptionError(f"a fault is {fault!r}: give a dict such as {example}")
            if not isinstance(fault.get("name"), str | None):
                raise OptionError(f"name is {fault['name']!r}: give text, or leave it out")
        for broker in self.racks:
            if not 1 <= broker <= self.brokers:
                raise OptionError(f"no broker {broker} to give a rack to: choose 1 to {self.brokers}")

    @property
    def listeners(self) -> dict[str, str]:
        """By name of each listener, its protocol."""
        return self.security.protocols if isinstance(self.security, Security) else {PLAINTEXT: PLAINTEXT}


def check_clock(clock: str) -> None:
    """ValueError for an unknown one."""
    if clock not in CLOCKS:
        raise OptionError(f"no clock {clock!r}{nearest(clock, CLOCKS)}")


def _check_topic(name: str, partitions: object) -> None:
    if not isinstance(partitions, int) or isinstance(partitions, bool) or partitions < 1:
        raise OptionError(f"topic {name!r} has {partitions!r} partitions: give a number, 1 or more")
    if why := topic_names.fault(name):
        raise OptionError(f"topic {name!r}: {why}")
