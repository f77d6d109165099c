"""Tests of what becomes of a share group's records, as files for `reproduce`."""

from typing import Final

from .reproduction import Template

WORN: Final = Template(
    """\
import pytest
from confluent_kafka import AcknowledgeType, ShareConsumer

from mockbroker import MockCluster

# {story}


# Files don't tell which of the two it was: released until that was the last time, or rejected then.
@pytest.mark.parametrize("limit", [pytest.param(5, id="incident"), pytest.param(10, id="prevented")])
def test_records_that_take_six_attempts_are_processed(limit: int) -> None:
    config = {{
        "group.share.delivery.count.limit": str(limit),
        "group.share.min.heartbeat.interval.ms": "100",
        "group.share.heartbeat.interval.ms": "100",
    }}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        cluster.configure_group({group}, {{"share.auto.offset.reset": "earliest"}})
        at_last = {{"0": AcknowledgeType.RELEASE, "1": AcknowledgeType.REJECT}}
        for value in at_last:
            cluster.produce("{topic}", value)
        member = ShareConsumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "share.acknowledgement.mode": "explicit",
            }}
        )
        member.subscribe(["{topic}"])
        attempts, start = dict.fromkeys(at_last, 0), 0
        while start < len(at_last):  # until each is accepted, or given up
            for message in member.poll(1):
                value = message.value().decode()
                attempts[value] += 1
                says = at_last[value] if attempts[value] == limit else AcknowledgeType.RELEASE
                member.acknowledge(message, AcknowledgeType.ACCEPT if attempts[value] == 6 else says)
            member.commit_sync(30)
            if any(attempts.values()):
                start = cluster.share_group({group})["{topic}", 0].start_offset
        member.close()
        assert attempts == dict.fromkeys(at_last, 6)
"""
)
SET_ELSEWHERE: Final = Template(
    """\
import pytest
from confluent_kafka import ShareConsumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("offset", [pytest.param(0, id="incident"), pytest.param(5, id="prevented")])
def test_a_share_group_is_given_each_record_once(offset: int) -> None:
    config = {{
        "group.share.min.heartbeat.interval.ms": "100",
        "group.share.heartbeat.interval.ms": "100",
    }}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        cluster.configure_group({group}, {{"share.auto.offset.reset": "earliest"}})
        written = [str(number) for number in range(10)]
        given: list[str] = []
        for some in (written[:5], written[5:]):
            for value in some:
                cluster.produce("{topic}", value)
            member = ShareConsumer({{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}})
            member.subscribe(["{topic}"])
            while some[-1] not in given:
                given += [message.value().decode() for message in member.poll(1)]
            member.close()
            cluster.alter_offset({group}, "{topic}", 0, offset)
        assert given == written
"""
)
