"""The options of a proxy, for type checkers: the same for `MockProxy` and pytest.

This module imports nothing that takes time, since pytest may import it in every run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from .names import Behaviours, Fault, ReleaseName
    from .security import Security


class MockProxyOptions(TypedDict, total=False):
    """`host` and `port` are those of the first broker's listener; the others get the next ports, or any. With
    `upstream_map` brokers are reached at other addresses than the cluster tells, both as `host:port`.
    `faults` are fields of faults, as for `MockCluster`; `scenario` is the file of a scenario that is played
    while the proxy runs. With `kafka` clients are shown no more versions and
    features than that release has. `policies` are answers of behaviours, by name, as for `MockCluster`: of
    those that a proxy can decide. With `trace` the trace begins at once, with "requests" without bodies. With
    `control` there is a control API, on that port of loopback, or on any if it is True; with a
    `control_token`, only requests that send it are answered.

    With `upstream_tls` brokers are spoken to by TLS. Files in PEM, which imply that: with those in
    `upstream_ca` brokers' certificates are checked, in place of what this machine trusts; brokers are shown
    `upstream_certificate`, whose key may be in the same file, or is `upstream_key`. `security` is about TLS
    of the proxy's own listeners: of `Security`, `tls`, `client_auth`, `folder`, `certificate`, `key` and
    `ca`."""

    host: str
    port: int
    upstream_map: Mapping[str, str] | None
    faults: "Sequence[Fault]"
    scenario: "str | Path | None"
    kafka: "ReleaseName | None"
    policies: "Behaviours"
    trace: bool | Literal["requests"]
    control: bool | int
    control_token: str | None
    upstream_tls: bool
    upstream_ca: "str | Path | None"
    upstream_certificate: "str | Path | None"
    upstream_key: "str | Path | None"
    security: "Security | Mapping[str, Any] | None"


class MarkedProxyOptions(MockProxyOptions, total=False):
    """Those of the marker, which may also say in front of which cluster."""

    upstream: str


OPTIONS: Final = frozenset(MockProxyOptions.__annotations__)
MARKED: Final = frozenset({"upstream", *OPTIONS})
