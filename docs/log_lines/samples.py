"""Lines as a statement would log them, made from its template."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

_SHARED: Final = "-{topicIdPartition}"
_PLACE: Final = re.compile(r"\{(\w*)\}")
_POSITION: Final = (
    "FetchPosition{offset=7, offsetEpoch=Optional[2], currentLeader=LeaderAndEpoch{"
    "leader=Optional[h:9092 (id: 1 rack: null)], epoch=3}}"
)
_VALUES: Final = (
    (
        r"tp|topicPartition|topicpartition|topicIdPartition|tip|partitionName|offsetsPartition|topic_partition",
        "orders-0",
    ),
    (r".*[pP]osition", _POSITION),
    (r"producerIdAndEpoch", "ProducerIdAndEpoch(producerId=7, epoch=2)"),
    (r"description", "orders-0 with topic ID abc"),
    (r"prev", "isr: [1] -> [2], leader: 1 -> 2, leaderEpoch: 1 -> 2, partitionEpoch: 1 -> 2"),
    (r"name", "orders"),
    (r"state|currentState|how", "Stable"),
    (r"topic|topicName|Topic|rkt_topic|topic_name", "orders"),
    (r"groupId|group|group_id|GroupID|groupName|str", "readers"),
    (r"transactionalId|transactional_id", "tx-1"),
    (r"member|memberId|member_id|newMemberId|.*[mM]emberId", "m-1"),
    (r".*(?:error|Error)|err|code|errorCode|ErrorCode", "UNKNOWN_SERVER_ERROR"),
    (
        r"(?:exception|ex|e|t|throwable|cause|lastError)",
        "org.apache.kafka.common.errors.TimeoutException: too late",
    ),
    (
        r"(?:sent|my)?[gG]eneration(?:Snapshot)?",
        "Generation{generationId=7, memberId='m-1', protocol='range'}",
    ),
    (r".*[rR]eason", "why not"),
    (r".*(?:[iI]sr|[rR]eplicas|asScala).*", "1,2"),
    (r"keySet", "Set(m-1)"),
    (r"record|.*Record", "BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=22, fenced=-1)"),
    (r".*[lL]og[pP]refix|logIdent", ""),
    (r".*name|.*Name|.*[iI]dent", "name"),
    (r".*", "7"),
)
_STRICT: Final = [(re.compile(name), value) for name, value in _VALUES]
_ANSWERS: Final = ("7", "orders-0", "readers", "OFFSET_OUT_OF_RANGE")


def samples(template: str) -> Iterator[str]:
    """A line with values as their names suggest, and others with the same value everywhere. A share partition
    is written with its topic's id."""
    template = template.replace(_SHARED, f"-CKG1ztYjSYKYHMPJwhhbwQ:{_SHARED[1:]}")
    yield _PLACE.sub(lambda found: _suggested(found[1]), template)
    for each in _ANSWERS:
        yield _PLACE.sub(each, template)
    places = list(islice(_PLACE.finditer(template), 6))
    for place in places:
        for each in _ANSWERS:
            yield (
                template[: place.start()]
                + each
                + _PLACE.sub(lambda found: _suggested(found[1]), template[place.end() :])
            )


def _suggested(name: str) -> str:
    return next(value for pattern, value in _STRICT if pattern.fullmatch(name))
