"""A sequence of requests as data, which JSON can hold.

A value that is only known while playing is a dict of one key:

| placeholder | what it becomes |
|---|---|
| `{"$producer": N}`, `{"$epoch": [N, plus]}` | id and epoch of producer N, as last handed out |
| `{"$session": N}` | id of the fetch session that step bound as N |
| `{"$member": N}`, `{"$generation": [N, plus]}` | member id and generation of member N |
| `{"$topic_id": NAME}` | id of that topic; of one that does not exist for an unknown name |
| `{"$leader_epoch": [TOPIC, PARTITION, plus]}` | leader epoch of that partition |
| `{"$now": plus}` | the time at which the sequence began, in ms |
| `{"$hex": TEXT}` | bytes |
| `{"$batches": [...]}` | record batches, each described by what `building.record_bytes` takes |

`~` in text becomes a suffix that only this playing has.
"""

from dataclasses import dataclass, field
from typing import Any, Final

Fields = dict[str, Any]
SUFFIX: Final = "~"
SLOW: Final = frozenset({"join_group", "sync_group"})
"""APIs whose answers may wait for other members."""
STOP, KILL, START = "stop_broker", "kill_broker", "start_broker"
RESTARTS: Final = frozenset({STOP, KILL, START})
"""What is no request, but done to the broker that the step names: it is shut down, dies, or comes back.
After a `KILL` with `at_once` the next request does not wait until its session has timed out."""
MOVE: Final = "move_coordinator"
"""What is no request either: the broker that the step names becomes the leader of an internal topic."""


@dataclass(frozen=True)
class Step:
    """One request, or one of `RESTARTS`, or `MOVE`.

    `binds` numbers what the answer hands out; `mutations` change the encoded frame. `broker` is the rank of
    the broker that is asked, or the topic and partition whose leader is.
    """

    api: str
    version: int
    fields: Fields
    client: int = 0
    binds: int | None = None
    mutations: tuple[tuple[Any, ...], ...] = ()
    broker: int | tuple[str, int] = 0

    def as_json(self) -> dict[str, Any]:
        kept: dict[str, Any] = {"api": self.api, "version": self.version, "fields": self.fields}
        if self.client:
            kept["client"] = self.client
        if self.binds is not None:
            kept["binds"] = self.binds
        if self.mutations:
            kept["mutations"] = [list(each) for each in self.mutations]
        if self.broker:
            kept["broker"] = self.broker
        return kept

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "Step":
        mutations = tuple(tuple(each) for each in kept.get("mutations", ()))
        broker = kept.get("broker", 0)
        return cls(
            kept["api"],
            kept["version"],
            kept["fields"],
            kept.get("client", 0),
            kept.get("binds"),
            mutations,
            broker if isinstance(broker, int) else (broker[0], broker[1]),
        )


@dataclass(frozen=True)
class Sequence:
    """Steps on connections of one client id, from a seed."""

    name: str
    steps: tuple[Step, ...] = field(default=())
    client_id: str | None = "differential"
    brokers: int = 1
