"""What a proxy is started with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..addresses import given
from ..protocol.releases import Release
from ..tokens import check_token

Address = tuple[str, int]


def addresses(text: str, what: str = "--upstream") -> list[Address]:
    """HOST:PORT,HOST:PORT. ValueError."""
    return [given(each, what) for each in text.split(",")]


def mapped(pairs: Sequence[str], what: str = "--upstream-map") -> dict[Address, Address]:
    """HOST:PORT=HOST:PORT. ValueError."""
    found = {}
    for each in pairs:
        theirs, equals, ours = each.partition("=")
        if not equals:
            raise ValueError(f"{what} {each!r}: write it as HOST:PORT=HOST:PORT")
        found[given(theirs, what)] = given(ours, what)
    return found


@dataclass(frozen=True)
class ProxyOptions:
    """`upstream` are addresses of the cluster's brokers. The first broker's listener is at `host` and `port`,
    the others get the next ports; with port 0 all get any. `map` has the addresses at which brokers are
    reached from here, by those that the cluster tells. `faults` are fields of faults. `kafka` is the release
    whose versions clients may use; None: those of the cluster. `policies` are answers of behaviours, by
    name. With `trace` the trace begins at once, with "requests" without bodies. `control` is the port of the
    control API on loopback, None for no API; with a `control_token`, only requests that send it are
    answered."""

    upstream: Sequence[Address]
    host: str = "127.0.0.1"
    port: int = 0
    map: Mapping[Address, Address] = field(default_factory=dict)
    faults: Sequence[Mapping[str, Any]] = ()
    kafka: Release | None = None
    policies: Mapping[str, Any] = field(default_factory=dict)
    trace: bool | Literal["requests"] = False
    control: int | None = None
    control_token: str | None = None

    def __post_init__(self) -> None:
        check_token(self.control_token)
