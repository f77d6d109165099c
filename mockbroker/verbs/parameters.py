"""Types of a verb's parameters, with their help and their checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from ..acls import text
from ..cluster.cluster import Cluster
from ..errors import NotThereError, OptionError
from .finding import find_broker

CONTROLLER: Final = "controller"
"""What a broker can be cut off from besides other brokers."""


def _anything(name: str, value: Any) -> None:
    """Accepts every value."""


def _anywhere(cluster: Cluster, value: Any) -> None:
    """For a value that names nothing in the cluster."""


@dataclass(frozen=True)
class Limits:
    """Part of a parameter's annotation, after its help. `check` raises OptionError for a value that no
    cluster could accept, `find` NotThereError for one that names something this cluster does not have."""

    check: Callable[[str, Any], None] = _anything
    find: Callable[[Cluster, Any], Any] = _anywhere


def _check_id(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise OptionError(f"{name} is {value!r}: give a broker's id")


def _check_id_or_none(name: str, value: Any) -> None:
    if value is not None:
        _check_id(name, value)


def _find_if_given(cluster: Cluster, value: int | None) -> None:
    if value is not None:
        find_broker(cluster, value)


def _check_ms(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise OptionError(f"{name} is {value!r}: give a number of milliseconds")


def _check_peers(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, list) or not value):
        raise OptionError(f"{name} is {value!r}: give a list of broker ids, and 'controller'")


def _find_peers(cluster: Cluster, value: list[int | str] | None) -> None:
    for each in value or ():
        if isinstance(each, int):
            find_broker(cluster, each)
        elif each != CONTROLLER:
            raise NotThereError(f"no broker {each!r}: name ids, or 'controller'")


def _check_producer_id(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise OptionError(f"{name} is {value!r}: give a producer id")


def _check_acl(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise OptionError(f"{name} is {value!r}: {text.HOW}")
    text.read(value)


def _check_password(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise OptionError(f"{name} is no text, or an empty one")  # it is not shown


Password = Annotated[str, "What the user logs in with.", Limits(_check_password)]
UserName = Annotated[str, "A user's name, without `User:`."]
AclText = Annotated[
    str,
    "Who may do what, such as `alice allow read,write on topic:orders`.",
    Limits(_check_acl),
]
BrokerId = Annotated[int, "A broker's id.", Limits(_check_id, find_broker)]
ListenerName = Annotated[str, "The name of one of the broker's listeners."]
SomeBroker = Annotated[int | None, "A broker's id.", Limits(_check_id_or_none, _find_if_given)]
TopicName = Annotated[str, "A topic's name."]
PartitionIndex = Annotated[int, "A partition's index."]
GroupId = Annotated[str, "A consumer group's id."]
MemberName = Annotated[
    str, "A member's id, or its `group.instance.id`, or the only such `client.id` in the group."
]
SomeProducer = Annotated[
    int | None,
    "A producer id; if it is left out, all producers that have no transaction open there.",
    Limits(_check_producer_id),
]
TransactionalId = Annotated[str, "A producer's transactional id."]
NewLeader = Annotated[
    int | None,
    "A broker's id; if it is left out, the next broker that may lead.",
    Limits(_check_id_or_none, _find_if_given),
]
Peers = Annotated[
    list[int | str] | None,
    "Broker ids, and `controller`; if it is left out, all other brokers and the controller.",
    Limits(_check_peers, _find_peers),
]
MetadataDelay = Annotated[
    int, "How long after the controller's decision the broker learns of it.", Limits(_check_ms)
]
FetchDelay = Annotated[int, "How long each of its fetches takes.", Limits(_check_ms)]
