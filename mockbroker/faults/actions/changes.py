"""What happens in the cluster while a request is being handled: an action for each of `mockbroker.verbs`."""

import contextlib
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, make_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from ...cluster.topic import TopicPartition
from ...errors import NotThereError, OptionError
from ...outcome import ANONYMOUS
from ...verbs import subjects
from ...verbs.parameters import SomeBroker
from ...verbs.signatures import Parameter
from ...verbs.subjects import BrokerListener, Following, Subject
from ...verbs.table import VERBS
from ...verbs.verb import Verb
from ..about import about
from ..exchange import Exchange
from ..match import FaultError, Match
from .action import Action, When, action

if TYPE_CHECKING:
    from ...cluster.cluster import Cluster

_TARGET: Final = "target"
_SHOWN: Final = 3
_WIDTH: Final = 105


class _Meant(NamedTuple):
    """Which of a verb's subjects a request means: `find` is also given the fault's `target`, if that says
    which of them (`targeted`). `told` describes them, `none` says why there may be none."""

    find: Callable[[Exchange, Match, int | None], list[Any]]
    told: str
    none: str = ""
    targeted: bool = False


def _broker(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    return [exchange.call.broker if target is None else exchange.call.cluster.brokers[target]]


def _listener(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    """The one by which the client came, of the broker that is asked or of another."""
    name = exchange.call.told(exchange.call.broker).name
    brokers = _broker(exchange, match, target)
    return [BrokerListener(each, each.endpoints[name]) for each in brokers if name in each.endpoints]


def _cluster(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    return [exchange.call.cluster]


def _user(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    """Whoever asks, if that is a user."""
    cluster, principal = exchange.call.cluster, exchange.call.client.principal
    return [] if principal == ANONYMOUS else [subjects.USER.find(cluster, principal.partition(":")[2])]


def _partitions(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    """The partitions that the request names and that the fault is for."""
    cluster = exchange.call.cluster
    named = sorted(about(exchange.api, exchange.request, cluster).partitions)
    found = [cluster.partition(topic, index) for topic, index in named if match.covers(topic, index)]
    return [partition for partition in found if partition is not None]


def _followers(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    return [
        Following(partition, follower)
        for partition in _partitions(exchange, match, target)
        for broker, follower in partition.followers.items()
        if target in (None, broker) and broker != partition.leader
    ]


def _groups(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    cluster = exchange.call.cluster
    return list(map(cluster.offsets_partition, about(exchange.api, exchange.request, cluster).groups))


def _transactional_ids(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    cluster = exchange.call.cluster
    named = about(exchange.api, exchange.request, cluster).transactional_ids
    return list(map(cluster.transaction_partition, named))


def _members(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    """Those that the request names by their ids."""
    cluster, request = exchange.call.cluster, exchange.request
    ids = {getattr(request, "member_id", ""), *(each.member_id for each in getattr(request, "members", ()))}
    found: list[Any] = []
    for group in sorted(about(exchange.api, request, cluster).groups):
        with contextlib.suppress(NotThereError):
            found += [each for each in subjects.members(cluster, group) if each.found.id in ids]
    return found


def _share_groups(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    cluster = exchange.call.cluster
    return _there(subjects.SHARE_GROUP, cluster, about(exchange.api, exchange.request, cluster).groups)


def _transactions(exchange: Exchange, match: Match, target: int | None) -> list[Any]:
    cluster = exchange.call.cluster
    named = about(exchange.api, exchange.request, cluster).transactional_ids
    return _there(subjects.TRANSACTION, cluster, named)


def _there(subject: Subject[Any], cluster: "Cluster", names: Iterable[str]) -> list[Any]:
    """Those of these names that there are."""
    found: list[Any] = []
    for each in sorted(names):
        with contextlib.suppress(NotThereError):
            found.append(subject.find(cluster, each))
    return found


_NO_LEADER: Final = "the request names nothing that has a leader"
_MEANT: Final[dict[Subject[Any], _Meant]] = {
    subjects.BROKER: _Meant(_broker, "the broker that is asked, or broker `target`", targeted=True),
    subjects.LISTENER: _Meant(
        _listener,
        "the listener by which the client came, of the broker that is asked, or of broker `target`",
        targeted=True,
    ),
    subjects.PARTITION: _Meant(_partitions, "the partitions that the request names", _NO_LEADER),
    subjects.FOLLOWER: _Meant(
        _followers,
        "the followers, on broker `target` or all, of the partitions that the request names",
        "the request names no partition with such a follower",
        targeted=True,
    ),
    subjects.GROUP: _Meant(_groups, "the groups that the request names", _NO_LEADER),
    subjects.MEMBER: _Meant(
        _members, "the members that the request names by their ids", "the request names no member of a group"
    ),
    subjects.TRANSACTION: _Meant(
        _transactions,
        "the transactional ids that the request names",
        "the request names no transactional id that its coordinator knows",
    ),
    subjects.SHARE_GROUP: _Meant(
        _share_groups, "the share groups that the request names", "the request names no share group"
    ),
    subjects.USER: _Meant(_user, "the user who asks", "nobody has logged in"),
    subjects.ACLS: _Meant(_cluster, "the ACLs of the cluster"),
    subjects.TRANSACTIONAL_ID: _Meant(_transactional_ids, "its transactional ids", _NO_LEADER),
}


@dataclass
class Change(Action):
    """Does its verb to what the request means. `parameters` are its fields: those of the verb, and
    `target`."""

    verb: ClassVar[Verb[Any, ...]]
    parameters: ClassVar[dict[str, Parameter]]

    def check(self, match: Match) -> None:
        for name, parameter in self.parameters.items():
            try:
                parameter.check(name.rstrip("_"), getattr(self, name))
            except OptionError as error:
                raise FaultError(str(error), name.rstrip("_")) from None

    def prepare(self, cluster: "Cluster") -> None:
        for name, parameter in self.parameters.items():
            try:
                parameter.find(cluster, getattr(self, name))
            except NotThereError as error:
                raise FaultError(str(error), name.rstrip("_")) from None

    def nothing_to_do(self, exchange: Exchange, match: Match) -> str:
        cluster, meant = exchange.call.cluster, self._meant(exchange, match)
        whys = [self.verb.nothing_to_do(cluster, each, **self._given) for each in meant]
        if not whys:
            return _MEANT[self.verb.subjects[0]].none
        return "" if "" in whys else "; ".join(whys[:_SHOWN])

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        cluster = exchange.call.cluster
        with cluster.controller.reasons.asked_by(_told(self.verb, match)):
            for each in self._meant(exchange, match):
                self.verb.attempt(cluster, each, **self._given)
        return True

    def _meant(self, exchange: Exchange, match: Match) -> list[Any]:
        target = getattr(self, _TARGET, None)
        found = [
            each for subject in self.verb.subjects for each in _MEANT[subject].find(exchange, match, target)
        ]
        if found and isinstance(found[0], TopicPartition):
            # Two groups may have their records in the same partition.
            found = sorted(set(found), key=lambda each: (each.topic.name, each.index))
        return found

    @property
    def _given(self) -> dict[str, Any]:
        """The verb's arguments."""
        return {each.keyword: getattr(self, _called(each)) for each in self.verb.parameters.values()}


def _told(verb: Verb[Any, ...], match: Match) -> str:
    """Whose fault it is that something changed."""
    conditions = [f"{name}={value}" for name, value in match.shown().items()]
    return " ".join(["fault", verb.name, *conditions])


def _called(parameter: Parameter) -> str:
    """The field for a verb's parameter: `target` is always the broker that a fault is about."""
    return _TARGET if parameter.name == "to" else parameter.keyword


def _action(verb: Verb[Any, ...]) -> type[Change]:
    meant = [_MEANT[each] for each in verb.subjects]
    own = {_called(each): each for each in verb.parameters.values()}
    if any(each.targeted for each in meant):
        own = {_TARGET: Parameter(_TARGET, _TARGET, SomeBroker, None), **own}
    fields: list[tuple[str, Any, Any]] = []
    for name, each in own.items():
        default = {} if each.required else {"default": each.default}
        fields.append((name, each.type, field(metadata={"help": each.help}, **default)))
    acts_on = " and ".join(each.told for each in meant)
    told = textwrap.fill(
        f"It acts on {acts_on}. If that would change nothing, it does not count as a hit.", _WIDTH
    )
    namespace = {"verb": verb, "parameters": own, "__doc__": f"{textwrap.fill(verb.help, _WIDTH)}\n\n{told}"}
    return make_dataclass(
        verb.name.title().replace("-", ""), fields, bases=(Change,), namespace=namespace, kw_only=True
    )


for _verb in VERBS.values():
    action(_verb.name)(_action(_verb))
