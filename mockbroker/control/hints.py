"""Possible reasons why a client gets nothing: rules over a cluster's state and its notes.

Each rule is silent while clients get what they ask for.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ..acls import Operation, ResourceType
from ..apis.advertised import advertised, served
from ..cluster.liveness import Liveness
from ..coordinators.classic.states import GroupState
from ..faults.match import api_name
from ..nearest import near
from ..policies.controller.broker_session import broker_session
from ..protocol.api_keys import ApiKey
from ..replication.states import FollowerState
from .registry import operation
from .share_hints import share_groups
from .target import Target

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster
    from ..cluster.topic import TopicPartition
    from ..coordinators.classic.group import ClassicGroup
    from ..coordinators.kinds import Group
    from ..faults import Faults

_FEW: Final = 3
_SHOWN: Final = 60
_OF_GROUPS: Final = frozenset(
    {
        ApiKey.JOIN_GROUP,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.OFFSET_FETCH,
        ApiKey.OFFSET_COMMIT,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.DELETE_GROUPS,
        ApiKey.OFFSET_DELETE,
    }
)
"""What a client asks a coordinator for."""
_SETTLED_MS: Final = 500
"""How long a group may take to get from one state to the next."""
_KEYS: Final = frozenset(key.value for key in ApiKey)
_FOLLOWS: Final = (FollowerState.IN_STEP, FollowerState.BEHIND)


@operation("hints list", "GET", "/hints")
def hints(target: Target) -> list[str]:
    """Lists possible reasons why a client gets nothing, the likeliest first. Empty if all is well."""
    return list(found(target.cluster, target.faults, manual_clock=target.manual_clock))


def found(cluster: "Cluster", faults: "Faults", *, manual_clock: bool) -> Iterator[str]:
    """The hints at this moment. Changes nothing in the cluster."""
    told = list(_plain_hints(cluster, faults, manual_clock=manual_clock))
    yield from told
    # A consumer whose topic is not there does not join either.
    if not told and not _OF_GROUPS & set(faults.came):
        yield from _not_joined(cluster)


def _plain_hints(cluster: "Cluster", faults: "Faults", *, manual_clock: bool) -> Iterator[str]:
    for rule in _RULES:
        yield from rule(cluster)
    yield from _groups(cluster, 0 if manual_clock else _SETTLED_MS)
    if manual_clock:
        yield from _standing_clock(cluster)
    for fault in faults.rules:
        if fault.held:
            yield f"the fault {str(fault)!r} holds {_count(fault.held, 'request')} until its release()"


def _not_created(cluster: "Cluster") -> Iterator[str]:
    for name, why in cluster.notes.not_created.items():
        if name not in cluster.topics:
            there = [each for each, topic in cluster.topics.items() if not topic.internal]
            yield f"the topic {name!r} was not created: {why}{_meant(near(name, there))}"


def _unserved(cluster: "Cluster") -> Iterator[str]:
    for each in cluster.notes.unserved:
        versions = served(cluster.release, each.api, cluster.configs.unstable)
        known = each.api in _KEYS
        api = api_name(ApiKey(each.api)) if known else f"API {each.api}"
        what = f"serves v{versions[0]} to v{versions[1]}" if versions else "does not serve it"
        yield (
            f"{_client(each.client_id)} sent {api} v{each.version}, but Kafka {cluster.release} {what}: "
            "its connection was closed"
        )


def _shut_out(cluster: "Cluster") -> Iterator[str]:
    for (client, listener), why in cluster.notes.shut_out.items():
        yield f"{_client(client)} did not get in at the listener {listener}: {why}"


def _closed_listeners(cluster: "Cluster") -> Iterator[str]:
    for broker in cluster.brokers.values():
        for each in broker.endpoints.values():
            if not each.open:
                yield f"the listener {each.name} of broker {broker.id} is closed until open_listener()"


def _refused(cluster: "Cluster") -> Iterator[str]:
    for each, client in cluster.notes.refused.items():
        kind = ResourceType(each.resource_type)
        resource = kind.name.lower().replace("_", " ")
        if kind is not ResourceType.CLUSTER:
            resource = f"{resource} {each.name}"
        operation = Operation(each.operation).name
        yield f"{_client(client)} was refused: {each.principal} lacks {operation} on the {resource}"


def _unread(cluster: "Cluster") -> Iterator[str]:
    for (client, pattern), why in cluster.notes.unread.items():
        shown = repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…")
        yield f"{_client(client)} was refused the regular expression {shown}: {why}"


def _coordinators(cluster: "Cluster") -> Iterator[str]:
    if "__consumer_offsets" not in cluster.topics:
        return
    for group in cluster.notes.coordinated:
        partition = cluster.offsets_partition(group)
        if partition.leader not in cluster.brokers:
            yield f"the group {group!r} has no coordinator: {_leaderless(cluster, partition)}"
        elif not cluster.brokers[partition.leader].online:
            yield f"the group {group!r} can't reach its coordinator: broker {partition.leader} is down"


def _leaders(cluster: "Cluster") -> Iterator[str]:
    read = {partition: None for _, partition, _, _ in _waits(cluster)}
    for partition in read:
        if partition.leader not in cluster.brokers:
            yield f"{_leaderless(cluster, partition)}: nobody can read or write it"


def _leaderless(cluster: "Cluster", partition: "TopicPartition") -> str:
    down = [each for each in partition.replicas if not cluster.brokers[each].online]
    gone = (
        f", since broker {', '.join(map(str, down))} {'is' if len(down) == 1 else 'are'} down" if down else ""
    )
    return f"{_name(partition)} has no leader{gone}"


def _groups(cluster: "Cluster", settled_ms: int) -> Iterator[str]:
    """Groups that have been waiting for their members for `settled_ms`."""
    for _, group in _classic_groups(cluster):
        if not group.members and not group.pending:
            continue
        if group.state_since_ms is None or cluster.now_ms - group.state_since_ms < settled_ms:
            continue
        who = _count(len(group.members) + len(group.pending), "member")
        never = "" if group.generation > 1 else ", and was never Stable"
        if group.state is GroupState.PREPARING_REBALANCE:
            missing = len(group.members) + len(group.pending) - group.joining
            if group.initial:
                waits = "group.initial.rebalance.delay.ms for more of them"
            else:
                waits = f"{missing} of them to join, for at most {group.rebalance_timeout_ms} ms"
            yield f"the group {group.id!r} is PreparingRebalance{never}: it has {who} and waits {_for(waits)}"
        elif group.state is GroupState.COMPLETING_REBALANCE:
            yield (
                f"the group {group.id!r} is CompletingRebalance{never}: it has {who} and waits for the "
                f"assignment by its leader {group.leader}"
            )


def _not_joined(cluster: "Cluster") -> Iterator[str]:
    """Clients that found their coordinator, and then asked it for nothing."""
    if ApiKey.CONSUMER_GROUP_HEARTBEAT in advertised(cluster.release):
        return
    for group, (client, since_ms) in cluster.notes.coordinated.items():
        if cluster.now_ms - since_ms >= _IDLE_MS:
            yield (
                f"{_client(client)} found the coordinator of the group {group!r}, but asks it for nothing: "
                "group.protocol=consumer needs ConsumerGroupHeartbeat (KIP-848), which brokers have since 3.7"
            )


def _for(waits: str) -> str:
    return waits if waits.startswith("group.") else f"for {waits}"


def _resets(cluster: "Cluster") -> Iterator[str]:
    """Consumers that began at the log end, after all records."""
    began: dict[tuple[str | None, str, str], list[tuple[TopicPartition, int]]] = {}
    went_on = set()
    for (group, topic, index), client in cluster.notes.without_offset.items():
        end = cluster.notes.ends.get((client, topic, index))
        partition = cluster.partition(topic, index)
        if end is None or end < 0 or partition is None:
            continue
        if partition.log.high_watermark > end:
            went_on.add((client, group, topic))
        elif end > partition.log.start_offset:
            began.setdefault((client, group, topic), []).append((partition, end))
    for key, ends in began.items():
        if key in went_on:
            continue
        client, group, _ = key
        where = _few([f"{_name(partition)} at offset {end}" for partition, end in ends])
        yield (
            f"{_client(client)} of the group {group!r} found no committed offset and began after the last "
            f"record (auto.offset.reset=latest): {where}; nothing has been written since"
        )


def _transactions(cluster: "Cluster") -> Iterator[str]:
    for client, partition, offset, committed in _waits(cluster):
        log = partition.log
        if not committed or not log.last_stable_offset <= offset < log.high_watermark:
            continue
        producer = log.producers.transactions.open.get(log.last_stable_offset)
        whose = (
            "a transaction" if producer is None else f"the transaction of {_transactional(cluster, producer)}"
        )
        yield (
            f"{_client(client)} reads committed records only, and gets none of {_name(partition)} from "
            f"offset {log.last_stable_offset} on, because {whose} is open"
        )


def _transactional(cluster: "Cluster", producer: int) -> str:
    for broker in cluster.brokers.values():
        for name, entry in broker.transactions if "transactions" in vars(broker) else ():
            if entry.producer_id == producer:
                return repr(name)
    return f"producer {producer}"


def _unreplicated(cluster: "Cluster") -> Iterator[str]:
    for client, partition, offset, _ in _waits(cluster):
        log = partition.log
        if not log.high_watermark <= offset or log.end_offset <= log.high_watermark:
            continue
        if lagging := _lagging(partition):
            yield (
                f"{_client(client)} gets none of {_name(partition)} from offset {log.high_watermark} on: "
                f"these in-sync replicas have not fetched them: {lagging}"
            )


def _unacknowledged(cluster: "Cluster") -> Iterator[str]:
    for (client, topic, index), (led, left) in cluster.notes.unacknowledged.items():
        partition = cluster.partition(topic, index)
        if led in left and partition is not None and (lagging := _lagging(partition)):
            yield (
                f"{_client(client)} waits for the answer to its records of {_name(partition)} from offset "
                f"{led.log.high_watermark} on (acks=all): these in-sync replicas have not fetched them, and "
                f"leave the ISR after replica.lag.time.max.ms={led.longest_lag_ms}: {lagging}"
            )


def _lagging(partition: "TopicPartition") -> str:
    """In-sync replicas that hold the high watermark back; empty if all of them follow."""
    return ", ".join(
        f"broker {each.broker} ({each.state.name.lower().replace('_', ' ')})"
        for each in partition.followers.values()
        if each.broker in partition.isr and each.state not in _FOLLOWS
    )


def _beyond(cluster: "Cluster") -> Iterator[str]:
    for (client, topic, index), offset in cluster.notes.out_of_range.items():
        partition = cluster.partition(topic, index)
        if partition is not None and not partition.log.start_offset <= offset <= partition.log.end_offset:
            ends = f"begins at offset {partition.log.start_offset} and ends at {partition.log.end_offset}"
            yield f"{_client(client)} asked {_name(partition)} for offset {offset}, but it {ends}"


def _empty(cluster: "Cluster") -> Iterator[str]:
    waiting = {partition.topic.name: client for client, partition, _, _ in _waits(cluster)}
    written = [
        name
        for name, topic in cluster.topics.items()
        if not topic.internal and any(each.log.end_offset for each in topic.partitions)
    ]
    for name, client in waiting.items():
        if name not in written:
            meant = _meant(near(name, written))
            yield f"{_client(client)} reads the topic {name!r}, but nothing was ever written to it{meant}"


def _wrong_groups(cluster: "Cluster") -> Iterator[str]:
    used = {group.id for _, group in _all_groups(cluster) if group.offsets or group.members}
    asked = dict.fromkeys(group for group, _, _ in cluster.notes.without_offset)
    for group in asked:
        if group not in used and (meant := near(group, used)) is not None:
            yield f"the group {group!r} has no members and no committed offsets{_meant(meant)}"


def _standing_clock(cluster: "Cluster") -> Iterator[str]:
    """What would be over by now if the clock did not have to be advanced by hand."""
    for broker in cluster.brokers.values():
        if broker.liveness is Liveness.KILLED and not broker.fenced:
            session_ms = cluster.configs.broker_int(cluster.policies[broker_session])
            yield (
                f"broker {broker.id} was killed, and no other broker leads its partitions until its session "
                f"has timed out, but the clock stands still (clock='manual'): clock.advance('{session_ms}ms')"
            )
    for _, group in _classic_groups(cluster):
        for member in group.members.values():
            if member.session.silent_ms > member.session_timeout_ms and not member.may_be_silent:
                yield (
                    f"the member {member.id} of the group {group.id!r} has been silent for longer than its "
                    f"session timeout, but the clock stands still (clock='manual'): "
                    f"clock.advance('{member.session_timeout_ms}ms')"
                )


def _streams_groups(cluster: "Cluster") -> Iterator[str]:
    """What there is of them is imported with the first of them."""
    for broker, group in _all_groups(cluster):
        if group.type == "streams" and group.members:
            from .streams_hints import streams_group

            yield from streams_group(broker, group)


_RULES: Final[tuple[Callable[["Cluster"], Iterator[str]], ...]] = (
    _not_created,
    _unserved,
    _shut_out,
    _closed_listeners,
    _refused,
    _unread,
    _coordinators,
    _leaders,
    _resets,
    _transactions,
    _unreplicated,
    _unacknowledged,
    _beyond,
    _wrong_groups,
    _empty,
    share_groups,
    _streams_groups,
)


def _waits(cluster: "Cluster") -> "Iterator[tuple[str | None, TopicPartition, int, bool]]":
    """The last Fetch of each client that had to wait: client id, partition, offset, and whether it reads
    only committed records."""
    for client, context in cluster.notes.waits.items():
        request = context.request
        if request.replica_state.replica_id >= 0:
            continue
        for (name, topic_id, index), asked in context.partitions().items():
            topic = cluster.topic_ids.get(topic_id) if topic_id else cluster.topics.get(name)
            partition = topic.partition(index) if topic else None
            if partition is not None:
                yield client, partition, asked.fetch_offset, bool(request.isolation_level)


def _all_groups(cluster: "Cluster") -> "Iterator[tuple[Broker, Group]]":
    """Every group with its coordinator. A coordinator that no client has asked yet is not created by this."""
    for broker in cluster.brokers.values():
        if "groups" in vars(broker):
            for group in list(broker.groups.groups.values()):
                yield broker, group


def _classic_groups(cluster: "Cluster") -> "Iterator[tuple[Broker, ClassicGroup]]":
    for broker, group in _all_groups(cluster):
        if group.type == "classic":
            yield broker, group


def _client(client_id: str | None) -> str:
    return f"the client {client_id!r}" if client_id else "a client without id"


def _meant(name: str | None) -> str:
    return "" if name is None else f": did you mean {name!r}?"


def _name(partition: "TopicPartition") -> str:
    return f"{partition.topic.name}-{partition.index}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _few(names: list[str]) -> str:
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")


_IDLE_MS: Final = 1000
"""A healthy client waits less between finding its coordinator and asking it for something."""
