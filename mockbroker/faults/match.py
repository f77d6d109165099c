"""Which requests a fault is for."""

import fnmatch
import functools
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from ..cluster.call import Call
from ..errors import MockBrokerError
from ..nearest import among, nearest
from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from ..protocol.primitives import uuid_of_short
from ..protocol.schema import class_name
from .about import about
from .unmet import Unmet

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster


class FaultError(MockBrokerError, ValueError):
    """An invalid fault; the message says what is wrong, and what would be right. `field` is the field that is
    wrong, empty if there is none such."""

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(why)
        self.field = field


@functools.cache
def api_name(key: ApiKey) -> str:
    """The name in Kafka's documentation: `InitProducerId`."""
    return class_name(key.name)


_APIS: Final = {api_name(key).lower(): key for key in CODEC_VERSIONS}


def parse_api(text: str | int | ApiKey) -> ApiKey:
    """An API by its name, however it is written, or by its key. FaultError."""
    if not isinstance(text, str) and not is_int(text):
        raise FaultError(f"api is {text!r}: give a name, a number or a list of them", "api")
    try:
        if isinstance(text, int):
            return next(key for key in CODEC_VERSIONS if key == text)
        return _APIS[text.lower().replace("_", "").replace("-", "")]
    except (AttributeError, KeyError, StopIteration):
        why = f"no API {text!r}{nearest(text, map(api_name, CODEC_VERSIONS))}"
        raise FaultError(why, "api") from None


_NAMES: Final = (
    "client_id",
    "user",
    "mechanism",
    "listener",
    "group",
    "transactional_id",
    "topic",
    "topic_id",
    "resource",
)


def _listed(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Collection) and not isinstance(value, str) else (value,)


@dataclass(frozen=True, slots=True)
class Match:
    """The conditions that a request has to meet for a fault to fire; what is left out may have any value.

    Names may have wildcards (`orders-*`). `user` is who has logged in, or whom a SaslAuthenticate names,
    without the type: `alice`. `mechanism` is by which, `listener` the name of the one that the client came
    by. `topic_id` is a topic's id in base 64, if the request names it by its id. `resource` is what
    requests of APIs for operators name that has no condition of its own: a resource of configurations or
    ACLs, an entity of quotas, a user of SCRAM credentials, a feature, a member of LeaveGroup.
    `nth_on_connection` is the number of the request among all of its connection, from 1: that is mostly
    an ApiVersions. `nth` is the first matching request that counts, from 1; `times` is how many count
    (all if it is None; one if only `nth` is given); with `probability` each of them fires or not,
    depending on `seed`.
    """

    api: tuple[ApiKey, ...] = ()
    version: tuple[int, ...] = ()
    client_id: str | None = None
    user: str | None = None
    mechanism: str | None = None
    listener: str | None = None
    group: str | None = None
    transactional_id: str | None = None
    topic: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    resource: str | None = None
    broker: int | None = None
    nth_on_connection: int | None = None
    nth: int = 1
    times: int | None = None
    probability: float = 1.0
    seed: int = 0

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "Match":
        """From what a user wrote. FaultError for invalid values; unknown names are left to the caller."""
        values = dict(given)
        values["api"] = tuple(parse_api(each) for each in _listed(values.get("api")))
        values["version"] = _listed(values.get("version"))
        if not all(is_int(each) and 0 <= each < 1 << 15 for each in values["version"]):
            why = f"version is {given['version']!r}: give a number, or a list of numbers"
            raise FaultError(why, "version")
        if "nth" in values and "times" not in values:
            values["times"] = 1
        for name in ("nth", "times", "nth_on_connection"):
            if not _is_count(values.get(name, 1)) and not (name != "nth" and values[name] is None):
                raise FaultError(f"{name} is {values[name]!r}: give a number, 1 or more", name)
        for name in ("partition", "broker", "seed"):
            if not is_int(values.get(name, 0)) and not (name != "seed" and values[name] is None):
                raise FaultError(f"{name} is {values[name]!r}: give a number", name)
        for name in _NAMES:
            if values.get(name) is not None and not isinstance(values[name], str):
                why = f"{name} is {values[name]!r}: give a name, or a pattern with wildcards"
                raise FaultError(why, name)
        topic_id = values.get("topic_id")
        if topic_id is not None and uuid_of_short(topic_id) is None:
            why = f"topic_id is {topic_id!r}: give the 22 letters with which Kafka writes an id"
            raise FaultError(why, "topic_id")
        probability = values.get("probability", 1.0)
        if (
            not isinstance(probability, int | float)
            or isinstance(probability, bool)
            or not 0 < probability <= 1
        ):
            why = f"probability is {probability!r}: give a number above 0, and 1 at most"
            raise FaultError(why, "probability")
        return cls(**values)

    def check(self, cluster: "Cluster") -> None:
        """FaultError for a broker or a listener that does not exist."""
        listeners = {name for broker in cluster.brokers.values() for name in broker.endpoints}
        if self.listener is not None and not any(_fits(self.listener, {name}) for name in listeners):
            raise FaultError(f"no listener {self.listener!r}{nearest(self.listener, listeners)}", "listener")
        if self.broker is not None and self.broker not in cluster.brokers:
            raise FaultError(f"no broker {self.broker}{among(cluster.brokers)}", "broker")

    def concerns(self, api: ApiKey) -> bool:
        return not self.api or api in self.api

    def unmet(self, call: Call, api: ApiKey, request: Any) -> Unmet | None:
        """The first condition that a request of an API that it `concerns` does not meet, without regard to
        `nth`, `times` and `probability`; None if it meets all."""
        if self.version and call.version not in self.version:
            return Unmet("version", (str(call.version),))
        if self.broker is not None and call.broker.id != self.broker:
            return Unmet("broker", (str(call.broker.id),))
        if self.nth_on_connection not in (None, call.client.requests):
            return Unmet("nth_on_connection", (str(call.client.requests),))
        for condition, found in self._asker(call, request):
            if not _fits(getattr(self, condition), {found}):
                return Unmet(condition, [found] if found else ())
        if not self.names_anything:
            return None
        what = about(api, request, call.cluster)
        if not _fits(self.group, what.groups):
            return Unmet("group", what.groups)
        if not _fits(self.transactional_id, what.transactional_ids):
            return Unmet("transactional_id", what.transactional_ids)
        if not self.covers_topic_id(what.topic_ids):
            return Unmet("topic_id", sorted(what.topic_ids))
        if not self.covers_resource(what.resources):
            return Unmet("resource", sorted(what.resources))
        if self.topic is None and self.partition is None:
            return None
        if not any(self.covers(topic, None) for topic in what.topics):
            return Unmet("topic" if self.topic is not None else "partition", sorted(what.topics))
        if self.partition is None or not what.partitions:
            return None
        if any(self.covers(topic, index) for topic, index in what.partitions):
            return None
        return Unmet("partition", [f"{topic}-{index}" for topic, index in sorted(what.partitions)])

    def _asker(self, call: Call, request: Any) -> Iterator[tuple[str, str]]:
        """The conditions about who asks, with what they are compared to."""
        if self.client_id is not None:
            yield "client_id", call.client_id or ""
        if self.listener is not None:
            yield "listener", call.told(call.broker).name
        if self.mechanism is not None:
            yield "mechanism", call.client.mechanism_of(request)
        if self.user is not None:
            yield "user", call.client.user_of(request)

    @property
    def names_anything(self) -> bool:
        """Whether it depends on what a request names."""
        names = (self.group, self.transactional_id, self.topic, self.topic_id, self.partition, self.resource)
        return any(each is not None for each in names)

    def shown(self) -> dict[str, str]:
        """The wanted values, by condition."""
        shown = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                values = value if isinstance(value, tuple) else (value,)
                texts = map(api_name, values) if each.name == "api" else map(str, values)
                shown[each.name] = ",".join(texts)
        return shown

    def covers(self, topic: str | None, partition: int | None) -> bool:
        """Whether the fault is for an entry of an answer for that topic and partition."""
        if self.topic is not None and not _fits(self.topic, {topic or ""}):
            return False
        return self.partition is None or partition is None or self.partition == partition

    def covers_topic_id(self, topic_ids: Collection[str]) -> bool:
        return self.topic_id is None or self.topic_id in topic_ids

    def covers_resource(self, names: Collection[str]) -> bool:
        return _fits(self.resource, names)

    def covers_client(self, client_id: str) -> bool:
        return _fits(self.client_id, {client_id})

    def covers_group(self, group: str) -> bool:
        return _fits(self.group, {group})

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.shown().items())


class Counter:
    """Which of the matching requests fire."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self.seen = 0
        """How many requests have matched."""
        self._random = random.Random(match.seed)
        self._fired = 0

    @property
    def used_up(self) -> bool:
        """Whether it will never fire again."""
        return self._match.times is not None and self._fired >= self._match.times

    def fires(self) -> bool:
        """Counts another matching request, and returns whether it fires."""
        self.seen += 1
        if self.seen < self._match.nth or self.used_up:
            return False
        if self._match.probability < 1 and self._random.random() >= self._match.probability:
            return False
        self._fired += 1
        return True

    def why_none(self) -> str:
        """Why none of the requests that matched fired; empty if none matched."""
        if not self.seen:
            return ""
        if self.seen < self._match.nth:
            return f"only {self.seen} such request{'s' * (self.seen != 1)} came, and nth={self._match.nth}"
        if not self._fired:
            chances = self.seen - self._match.nth + 1
            what = f"{chances} such request{'s' * (chances != 1)} came"
            return f"{what}, and probability={self._match.probability} chose none"
        return "such a request came, but it got no answer that the fault could change"

    def take_back(self) -> None:
        """The last one that fired had no effect, so it does not count."""
        self._fired -= 1


def _fits(pattern: str | None, names: Collection[str]) -> bool:
    return pattern is None or any(fnmatch.fnmatchcase(name, pattern) for name in names)


def is_int(value: object) -> TypeGuard[int]:
    """Whether it is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return is_int(value) and value >= 1
