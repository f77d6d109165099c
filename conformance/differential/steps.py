"""A sequence of requests as data, which JSON can hold.

A value that is only known while playing is a dict of one key:

| placeholder | what it becomes |
|---|---|
| `{"$producer": N}`, `{"$epoch": [N, plus]}` | id and epoch of producer N, as last handed out |
| `{"$session": N}` | id of the fetch session that step bound as N |
| `{"$member": N}`, `{"$generation": [N, plus]}` | member id and generation of member N |
| `{"$topic_id": NAME}` | id of that topic; of one that does not exist for an unknown name |
| `{"$leader_epoch": [TOPIC, PARTITION, plus]}` | leader epoch of that partition |
| `{"$share_epoch": [N, plus]}` | member epoch of member N of a share group |
| `{"$share_session": [N, plus]}` | epoch of the next request in the share session of member N |
| `{"$acquired": [N, TOPIC, PARTITION, SHAPE, TYPES]}` | acknowledgements of what member N acquired |
| `{"$share_key": [GROUP, TOPIC, PARTITION]}` | key of a share partition |
| `{"$streams_epoch": [N, plus]}` | member epoch of member N of a streams group |
| `{"$endpoint_epoch": [N, plus]}` | epoch of the endpoints that member N knows |
| `{"$tasks": [N, KIND, SHAPE]}` | tasks of that kind, by what member N was told |
| `{"$consumer_epoch": [N, plus]}` | member epoch of member N of a consumer group |
| `{"$owned": [N, SHAPE]}` | partitions, by what member N was told |
| `{"$subscription": [TOPICS, OWNED]}` | a member's metadata in the classic protocol |
| `{"$now": plus}` | the time at which the sequence began, in ms |
| `{"$hex": TEXT}` | bytes |
| `{"$batches": [...]}` | record batches, each described by what `building.record_bytes` takes |

`~` in text becomes a suffix that only this playing has.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from ...verbs import brokers, leaders

Fields = dict[str, Any]
SUFFIX: Final = "~"
SLOW: Final = frozenset({"join_group", "sync_group"})
"""APIs whose answers may wait for other members."""
STOP, KILL, START, MOVE = (
    each.name.replace("-", "_")
    for each in (brokers.stop_broker, brokers.kill_broker, brokers.start_broker, leaders.move_coordinator)
)
DISCONNECT, LOCKS_END = "disconnect", "locks_end"
ASIDE: Final = frozenset({DISCONNECT, LOCKS_END})
"""No requests either: the connection of a member is closed, so that its share session ends; or short locks of
records end. What was acquired is let go before the next step."""
RESTARTS: Final = frozenset({STOP, KILL, START})
"""Verbs, which are no requests: the broker that the step names is shut down, dies, or comes back, or becomes
the leader of an internal topic (`MOVE`). After a `KILL` with `at_once` the next request does not wait until
the broker's session has timed out."""


@dataclass(frozen=True)
class Step:
    """One request, or one of `RESTARTS` or `ASIDE`, or `MOVE`.

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


@dataclass(frozen=True)
class Sequence:
    """Steps on connections of one client id, from a seed."""

    name: str
    steps: tuple[Step, ...] = field(default=())
    client_id: str | None = "differential"
    brokers: int = 1

    @property
    def has_acls(self) -> bool:
        """Whether brokers need an authorizer for it."""
        return any(step.api.endswith("_acls") for step in self.steps)
