"""How a classic group becomes a consumer group, and the reverse, while it has members
(`ConsumerGroup.fromClassicGroup`, `ClassicGroup.fromConsumerGroup`)."""

from ...configs import Configs
from ...protocol.api_error import ApiError
from ...protocol.consumer_protocol import read_assignment, read_subscription
from ...protocol.errors import ErrorCode
from ...protocol.group_metadata import GroupMetadata, MemberMetadata
from ..classic.group import ClassicGroup
from ..classic.member import ClassicMember
from ..classic.rebalance import Rebalance
from ..classic.subscriptions import CONSUMER
from ..home import Home
from ..member_state import MemberState
from ..named_topics import NamedTopics
from .classic_members import owned_of, written
from .group import ConsumerGroup
from .member import Assignment, Classic, ConsumerMember
from .settings import migration

E = ErrorCode


def check_upgrade(group: ClassicGroup, configs: Configs) -> None:
    """ApiError GROUP_ID_NOT_FOUND if the group may not become a consumer group."""
    if not migration(configs).up:
        raise _refused(group, "online upgrade is disabled")
    if group.protocol_type != CONSUMER:
        raise _refused(group, "the group does not use the consumer embedded protocol")
    if len(group.members) > configs.broker_int("group.consumer.max.size"):
        raise _refused(group, "the group size exceeds the consumer group maximum size")


def upgrade(group: ClassicGroup, made: ConsumerGroup, home: Home) -> None:
    """Makes a new consumer group what the classic one is. ApiError GROUP_ID_NOT_FOUND for members that can't
    be read, or whose assignor gave them data of its own; UNKNOWN_SERVER_ERROR before the first generation, as
    real brokers up to 4.4 answer."""
    if group.protocol is None:
        raise ApiError(E.UNKNOWN_SERVER_ERROR)
    made.offsets = group.offsets
    made.epoch = made.assignment_epoch = group.generation
    for member in group.members.values():
        found = _upgraded(group, member, home)
        made.put(found)
        made.target[member.id] = {topic: frozenset(indexes) for topic, indexes in found.assigned.items()}


def _upgraded(group: ClassicGroup, member: ClassicMember, home: Home) -> ConsumerMember:
    try:
        assigned = _assigned(group, member, home)
        said = read_subscription(bytes(member.metadata(group.protocol or "")))
    except ValueError:
        raise _refused(group, "the embedded consumer protocol is malformed") from None
    epoch = group.generation
    return ConsumerMember(
        member.id,
        member.instance_id,
        said.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        NamedTopics(said.topics),
        epoch=epoch,
        previous_epoch=epoch,
        state=MemberState.STABLE,
        assigned={topic: dict.fromkeys(sorted(found), epoch) for topic, found in assigned.items()},
        classic=Classic(member.session_timeout_ms, member.protocols),
    )


def _assigned(group: ClassicGroup, member: ClassicMember, home: Home) -> Assignment:
    if not member.assignment:
        return {}
    found = read_assignment(bytes(member.assignment))
    if found.user_data:
        raise _refused(
            group,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a "
            "default assignor before re-attempting the upgrade",
        )
    return owned_of(home, found.partitions)


def _refused(group: ClassicGroup, why: str) -> ApiError:
    return ApiError(
        E.GROUP_ID_NOT_FOUND, f"Cannot upgrade classic group {group.id} to consumer group because {why}."
    )


def downgraded(group: ConsumerGroup, home: Home, rebalance: Rebalance) -> ClassicGroup:
    """The classic group of these members, all of which use the classic protocol."""
    made = ClassicGroup(home, group.id, group.partition)
    made.offsets = group.offsets
    for member in group.members.values():
        assert member.classic is not None
        metadata = MemberMetadata(
            member.id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.classic.session_ms,
            b"",
            written(home, group.target_of(member.id), member.classic),
        )
        rebalance.adopt(made, metadata, member.classic.protocols, CONSUMER)
    now_ms = home.environment.now_ms
    made.take(GroupMetadata(CONSUMER, group.epoch, made.select_protocol(), made.leader, now_ms, ()))
    return made
