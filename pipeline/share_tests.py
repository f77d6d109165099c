"""Tests of what becomes of a share group's records, as files for `reproduce`."""

from typing import Final

from .reproduction import Template

WORN: Final = Template(
    """\
import pytest
from confluent_kafka import AcknowledgeType, ShareConsumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("limit", [pytest.param("5", id="incident"), pytest.param("10", id="prevented")])
def test_a_record_that_takes_six_attempts_is_processed(limit: str) -> None:
    config = {{
        "group.share.delivery.count.limit": limit,
        "group.share.min.heartbeat.interval.ms": "100",
        "group.share.heartbeat.interval.ms": "100",
    }}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        cluster.configure_group({group}, {{"share.auto.offset.reset": "earliest"}})
        cluster.produce("{topic}", "0")
        member = ShareConsumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "share.acknowledgement.mode": "explicit",
            }}
        )
        member.subscribe(["{topic}"])
        attempts = start = 0
        while start == 0:  # until it is accepted, or given up
            for message in member.poll(1):
                attempts += 1
                member.acknowledge(
                    message, AcknowledgeType.RELEASE if attempts < 6 else AcknowledgeType.ACCEPT
                )
                member.commit_sync(30)
                start = cluster.share_group({group})["{topic}", 0].start_offset
        member.close()
        assert attempts == 6
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
