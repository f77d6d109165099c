"""The verbs as operations, and as calls in Python."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, NamedTuple, TypedDict, TypeVar, get_type_hints

from ..cluster.broker import Broker
from ..errors import ConflictError, OptionError
from ..verbs import subjects
from ..verbs.signatures import Parameter
from ..verbs.subjects import CoordinatedTransaction, Following, GroupMember, SharingGroup, Subject
from ..verbs.table import VERBS
from ..verbs.verb import Verb
from . import acls, listeners, users
from .brokers import state
from .partitions import ReplicaState, leadership, replicas
from .registry import operation
from .target import Target

S = TypeVar("S")


def _act(target: Target, verb: Verb[S, ...], subject: S, **given: Any) -> None:
    verb(target.cluster, subject, **given)


def _act_on_broker(target: Target, verb: Verb[Broker, ...], broker: Broker, **given: Any) -> None:
    """Like `_act`; but a broker that is waiting for its port is down, and stopping it ends the wait."""
    if verb.name in ("stop-broker", "kill-broker") and target.without_port.pop(broker.id, None) is not None:
        return
    verb(target.cluster, broker, **given)
    if verb.name == "start-broker":
        target.poke()
        if broker.id in target.without_port:
            raise ConflictError(target.without_port[broker.id])


class Member(TypedDict):
    """A member of a group, which may be gone."""

    group_id: str
    member_id: str
    client_id: str


def _member(member: GroupMember) -> Member:
    return {"group_id": member.group, "member_id": member.found.id, "client_id": member.found.client_id}


class Sharing(TypedDict):
    """A share group, and its coordinator."""

    group_id: str
    coordinator: int


def _sharing(group: SharingGroup) -> Sharing:
    return {"group_id": group.name, "coordinator": group.coordinator.id}


class Coordinated(TypedDict):
    """A transactional id, which may be gone, and its coordinator."""

    transactional_id: str
    coordinator: int


def _coordinated(transaction: CoordinatedTransaction) -> Coordinated:
    return {
        "transactional_id": transaction.transactional_id,
        "coordinator": transaction.coordinator.id,
    }


def _replicas(following: Following) -> list[ReplicaState]:
    return replicas(following.partition)


class Place(NamedTuple, Generic[S]):
    """Where the operations on a subject are: `group` is the first word of their names, `path` the beginning
    of their paths. They answer what `tell` returns for the subject, after `act`."""

    subject: Subject[S]
    group: str
    path: str
    tell: Callable[[S], Any]
    act: Callable[..., None] = _act


_PARTITION: Final = "/topics/{topic}/partitions/{partition}"
PLACES: Final[tuple[Place[Any], ...]] = (
    Place(subjects.BROKER, "brokers", "/brokers/{broker}", state, _act_on_broker),
    Place(subjects.LISTENER, "listeners", "/brokers/{broker}/listeners/{listener}", listeners.state, _act),
    Place(subjects.PARTITION, "partitions", _PARTITION, leadership),
    Place(subjects.FOLLOWER, "followers", f"{_PARTITION}/followers/{{broker}}", _replicas),
    Place(subjects.GROUP, "groups", "/groups/{group}", leadership),
    Place(subjects.SHARE_GROUP, "groups", "/groups/{group}", _sharing),
    Place(subjects.MEMBER, "groups", "/groups/{group}/members/{member}", _member),
    Place(subjects.TRANSACTION, "transactions", "/transactions/{transactional_id}", _coordinated),
    Place(subjects.TRANSACTIONAL_ID, "transactions", "/transactions/{transactional_id}", leadership),
    Place(subjects.ACLS, "acls", "/acls", acls.shown),
    Place(subjects.USER, "users", "/users/{user}", users.state),
)


def do(target: Target, verb: str, /, **given: Any) -> Any:
    """Does it and returns the operation's answer; `given` names the subject too. OptionError if it names
    none, or more than one; NotThereError, ConflictError."""
    found = VERBS[verb]
    named = {name for name, value in given.items() if value is not None}
    places = [each for each in PLACES if each.subject in found.subjects]
    meant = [each for each in places if named.issuperset(each.subject.keys)]
    if len(meant) != 1:
        choices = " or ".join(" and ".join(each.subject.keys) for each in places)
        raise OptionError(f"{verb} needs to know what it acts on: give {choices}")
    [place] = meant
    others = {name for each in places for name in each.subject.keys} - set(place.subject.keys)
    return _do(target, found, place, {name: value for name, value in given.items() if name not in others})


def _do(target: Target, verb: Verb[S, ...], place: Place[S], given: dict[str, Any]) -> Any:
    subject = place.subject.find(target.cluster, **{name: given.pop(name) for name in place.subject.keys})
    with target.cluster.controller.reasons.asked_by(f"operation {place.group} {_word(verb, place)}"):
        place.act(target, verb, subject, **given)
    return place.tell(subject)


def _functions() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Name, path and function of each operation."""
    for place in PLACES:
        for verb in VERBS.values():
            if place.subject in verb.subjects:
                word = _word(verb, place)
                yield f"{place.group} {word}", f"{place.path}/{word}", _function(verb, place)


def _word(verb: Verb[S, ...], place: Place[S]) -> str:
    """What the operation is called in its group."""
    return verb.name.removesuffix(f"-{place.subject.name}")


def _function(verb: Verb[S, ...], place: Place[S]) -> Callable[..., Any]:
    """A function with the parameters of the subject and of the verb, for the registry to read."""

    def function(target: Target, **given: Any) -> Any:
        return _do(target, verb, place, given)

    shown = {**place.subject.keys, **verb.parameters}.values()
    target = inspect.Parameter("target", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Target)
    function.__signature__ = inspect.Signature([target, *map(_shown, shown)])  # type: ignore[attr-defined]
    function.__annotations__ = {
        "target": Target,
        **{each.keyword: each.annotation for each in shown},
        "return": get_type_hints(place.tell)["return"],
    }
    function.__doc__ = verb.help
    return function


def _shown(parameter: Parameter) -> inspect.Parameter:
    return inspect.Parameter(
        parameter.keyword,
        inspect.Parameter.KEYWORD_ONLY,
        default=parameter.default,
        annotation=parameter.annotation,
    )


for _name, _path, _made in _functions():
    operation(_name, "POST", _path)(_made)
