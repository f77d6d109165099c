"""The options of a cluster, for type checkers: the same for `MockCluster`, `serve` and pytest.

This module imports nothing that takes time, since pytest imports it in every run.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from .errors import UnknownOptionError

if TYPE_CHECKING:
    from .names import Behaviours, Fault, ReleaseName
    from .security import Security

ClockName = Literal["wall", "manual"]
"""What moves a cluster's time: the wall clock, or only `advance`."""


class ClusterOptions(TypedDict, total=False):
    """The fields of `server.options.Options`, which says what they mean and what their defaults are."""

    kafka: "ReleaseName"
    brokers: int
    host: str
    port: int
    advertise: str | Sequence[str] | None
    config: Mapping[str, str] | None
    policies: "Behaviours"
    topics: Mapping[str, int] | None
    seed: int | None
    racks: Mapping[int, str] | None
    fixed: bool
    trace: bool | Literal["requests"]
    capture: str | Path | None
    clock: ClockName
    control: int | bool | None
    control_token: str | None
    console: bool
    faults: "Sequence[Fault]"
    offsets: str | Path | Sequence[str | Path] | None
    now: str | int | datetime | None
    security: "Security | Mapping[str, Any] | None"


OPTIONS: Final = frozenset(ClusterOptions.__annotations__)


def unchecked(value: Any) -> Any:
    """The same value, hidden from type checkers: for a name that is read at run time, or policies for one
    topic or broker."""
    return value


def check_names(names: Iterable[str], where: str, known: Collection[str] = OPTIONS) -> None:
    """UnknownOptionError for the first name that does not exist; the message has the nearest that does."""
    for name in names:
        if name not in known:
            from .nearest import nearest

            raise UnknownOptionError(f"{where} has no option {name!r}{nearest(name, known)}")
