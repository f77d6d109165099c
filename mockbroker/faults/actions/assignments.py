"""Actions by which members of a consumer group (KIP-848) are told another assignment than the coordinator
keeps, or none."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ...protocol.api_keys import ApiKey
from ...protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatResponseAssignment,
    ConsumerGroupHeartbeatTopicPartitions,
)
from ..exchange import Exchange
from ..match import FaultError, Match
from .action import Action, When, action

if TYPE_CHECKING:
    from ...coordinators.consumer.member import ConsumerMember

_Partitions = dict[UUID, set[int]]


@dataclass
class _Misled(Action):
    """Changes answers to heartbeats of members, and no others. The coordinator knows nothing of it."""

    when = ("after",)

    def check(self, match: Match) -> None:
        if any(api is not ApiKey.CONSUMER_GROUP_HEARTBEAT for api in match.api):
            raise FaultError("this is for api='ConsumerGroupHeartbeat'", "api")

    def nothing_to_do(self, exchange: Exchange, match: Match) -> str:
        if exchange.api is not ApiKey.CONSUMER_GROUP_HEARTBEAT:
            return "the request is no ConsumerGroupHeartbeat"
        if not exchange.has_answer or exchange.answer.error_code or exchange.answer.member_epoch < 0:
            return "the answer is not that of a member"
        return self.no_change(exchange)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        exchange.answer = replace(exchange.answer, assignment=self.told(exchange))
        return True

    @abstractmethod
    def no_change(self, exchange: Exchange) -> str:
        """Why it would not change such an answer; empty if it would."""

    @abstractmethod
    def told(self, exchange: Exchange) -> ConsumerGroupHeartbeatResponseAssignment | None:
        """The assignment in the answer."""


@action("withhold-assignment")
@dataclass
class WithholdAssignment(_Misled):
    """A member of a consumer group (KIP-848) is told its epoch, but not that its assignment has changed.

    Only answers with an assignment count. The coordinator believes that the member knows, and tells it again
    when the member joins again, sends all its fields, or is assigned something else.
    """

    unlike = "a coordinator tells each member its assignment whenever that changes"

    def no_change(self, exchange: Exchange) -> str:
        return "the answer has no assignment" if exchange.answer.assignment is None else ""

    def told(self, exchange: Exchange) -> None:
        return None


@action("replace-assignment")
@dataclass
class ReplaceAssignment(_Misled):
    """A member of a consumer group (KIP-848) is told another assignment than it has.

    `assignment` has the partitions by topic: `{"orders": [0, 1]}`. Answers that would have none have this
    one.
    """

    assignment: dict[str, list[int]]
    unlike = "a coordinator tells each member the assignment that it keeps for it"

    def check(self, match: Match) -> None:
        super().check(match)
        if not isinstance(self.assignment, dict) or not all(
            isinstance(topic, str) and isinstance(found, list) and all(map(_is_partition, found))
            for topic, found in self.assignment.items()
        ):
            raise FaultError(
                f"assignment is {self.assignment!r}: give lists of partitions by topic, as {{'orders': [0]}}",
                "assignment",
            )

    def no_change(self, exchange: Exchange) -> str:
        missing = [name for name in self.assignment if name not in exchange.call.cluster.topics]
        return f"there is no topic {missing[0]!r}" if missing else ""

    def told(self, exchange: Exchange) -> ConsumerGroupHeartbeatResponseAssignment:
        topics = exchange.call.cluster.topics
        return _assignment({topics[name].id: set(found) for name, found in self.assignment.items()})


@action("share-assignment")
@dataclass
class ShareAssignment(_Misled):
    """A member of a consumer group (KIP-848) is told to own, besides its own partitions, those of other
    members: of `member`, by its client id or member id, or of all.

    The others are not told, so that two members own the same partitions.
    """

    member: str | None = None
    unlike = "a coordinator assigns a partition to one member at a time"

    def check(self, match: Match) -> None:
        super().check(match)
        if self.member is not None and not isinstance(self.member, str):
            raise FaultError(f"member is {self.member!r}: give a client id, or a member id", "member")

    def no_change(self, exchange: Exchange) -> str:
        return "" if self._of_others(exchange) else "no other member has partitions"

    def told(self, exchange: Exchange) -> ConsumerGroupHeartbeatResponseAssignment:
        found = self._of_others(exchange)
        member = _members(exchange).get(exchange.answer.member_id)
        for topic, partitions in ({} if member is None else member.assigned).items():
            found.setdefault(topic, set()).update(partitions)
        return _assignment(found)

    def _of_others(self, exchange: Exchange) -> _Partitions:
        found: _Partitions = {}
        for member in _members(exchange).values():
            if member.id == exchange.answer.member_id:
                continue
            if self.member in (None, member.client_id, member.id):
                for topic, partitions in member.held.items():
                    found.setdefault(topic, set()).update(partitions)
        return found


def _members(exchange: Exchange) -> "dict[str, ConsumerMember]":
    group = exchange.call.broker.groups.groups.get(exchange.request.group_id)
    return group.members if group is not None and group.type == "consumer" else {}


def _assignment(found: _Partitions) -> ConsumerGroupHeartbeatResponseAssignment:
    return ConsumerGroupHeartbeatResponseAssignment(
        [
            ConsumerGroupHeartbeatTopicPartitions(topic, sorted(partitions))
            for topic, partitions in found.items()
        ]
    )


def _is_partition(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
