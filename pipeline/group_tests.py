"""Tests in which members of a group are refused or put out, as files for `reproduce`."""

from typing import Final

from .reproduction import Template

SILENT: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, KafkaException

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "session_timeout_ms", [pytest.param(6_000, id="incident"), pytest.param(45_000, id="prevented")]
)
def test_a_member_that_is_silent_for_a_while_commits_what_it_has_read(session_timeout_ms: int) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"}}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config, clock="manual"
    ) as cluster:
        for number in range(5):
            cluster.produce("{topic}", str(number))
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": session_timeout_ms,
            }}
        )
        consumer.subscribe(["{topic}"])
        assert len(consumer.consume(5, timeout=30)) == 5
        cluster.clock.advance(10_000)  # without a heartbeat
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            pytest.fail(f"others get its partitions, and read the records again: {{error}}")
        finally:
            consumer.close()
"""
)
"""In a classic group, where the member says how long its session is."""
SILENT_IN_4: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, KafkaException

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "session_timeout_ms", [pytest.param("6000", id="incident"), pytest.param("45000", id="prevented")]
)
def test_a_member_that_is_silent_for_a_while_commits_what_it_has_read(session_timeout_ms: str) -> None:
    config = {{
        "group.consumer.min.session.timeout.ms": "6000",
        "group.consumer.session.timeout.ms": session_timeout_ms,
    }}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config, clock="manual"
    ) as cluster:
        for number in range(5):
            cluster.produce("{topic}", str(number))
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }}
        )
        consumer.subscribe(["{topic}"])
        assert len(consumer.consume(5, timeout=30)) == 5
        cluster.clock.advance(10_000)  # without a heartbeat
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            pytest.fail(f"others get its partitions, and read the records again: {{error}}")
        finally:
            consumer.close()
"""
)
"""In a group of Kafka 4, where brokers say so."""
NOT_GIVEN_UP: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, KafkaException

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "max_poll_interval_ms", [pytest.param(10_000, id="incident"), pytest.param(300_000, id="prevented")]
)
def test_a_member_that_works_when_another_joins_commits_what_it_has_read(max_poll_interval_ms: int) -> None:
    config = {{
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": "100",
    }}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 2}}, config=config, clock="manual"
    ) as cluster:
        for number in range(5):
            cluster.produce("{topic}", str(number), partition=0)
        settings = {{
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": {group},
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }}
        worker = Consumer({{**settings, "max.poll.interval.ms": max_poll_interval_ms}})
        other = Consumer(settings)
        try:
            worker.subscribe(["{topic}"], on_revoke=lambda *_: None)  # it is called while it polls
            assert len(worker.consume(5, timeout=30)) == 5
            heartbeats = cluster.faults.add("watch", api="ConsumerGroupHeartbeat")
            other.subscribe(["{topic}"])
            while len(cluster.group({group}).members) < 2:
                other.poll(0.1)
            cluster.clock.advance(2_000)  # partitions are assigned anew
            heartbeats.wait(hits=heartbeats.hits + 10)  # both are told
            cluster.clock.advance(20_000)  # it works, and gives nothing up
            worker.commit(asynchronous=False)
        except KafkaException as error:
            pytest.fail(f"others get its partitions, and read the records again: {{error}}")
        finally:
            worker.close()
            other.close()
"""
)
UNSETTLED: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "change", [pytest.param("every-heartbeat", id="incident"), pytest.param("at-change", id="prevented")]
)
def test_a_group_with_the_same_members_stays_in_its_epoch(change: str) -> None:
    config = {{
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": "100",
    }}
    policies = {{"assignor-change": change}}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 2}}, config=config, policies=policies
    ) as cluster:
        settings = {{
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": {group},
            "group.protocol": "consumer",
        }}
        members = [Consumer({{**settings, "group.remote.assignor": each}}) for each in ("range", "uniform")]
        for member in members:
            member.subscribe(["{topic}"])
        while [len(member.assignment()) for member in members] != [1, 1]:
            for member in members:
                member.poll(0.1)
        heartbeats = cluster.faults.add("watch", api="ConsumerGroupHeartbeat")
        epoch = cluster.group({group}).generation
        heartbeats.wait(hits=20)
        later = cluster.group({group}).generation
        for member in members:
            member.close()
        assert later == epoch
"""
)
MIGRATION: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "policy", [pytest.param("disabled", id="incident"), pytest.param("bidirectional", id="prevented")]
)
def test_a_member_with_the_protocol_of_kafka_4_may_join(policy: str) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0", "group.consumer.migration.policy": policy}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 2}}, config=config) as cluster:
        settings = {{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}}
        members = [Consumer({{**settings, "group.protocol": each}}) for each in ("classic", "consumer")]
        try:
            for member in members:
                member.subscribe(["{topic}"])
                while not member.assignment():
                    for each in members:
                        message = each.poll(0.1)
                        if message is not None and message.error():
                            pytest.fail(f"it may not join: {{message.error()}}")
        finally:
            for member in members:
                member.close()
"""
)
TOO_EARLY: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "delay_ms", [pytest.param("60000", id="incident"), pytest.param("0", id="prevented")]
)
def test_a_member_with_the_protocol_of_kafka_4_may_join(delay_ms: str) -> None:
    config = {{"group.initial.rebalance.delay.ms": delay_ms}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 2}}, config=config) as cluster:
        settings = {{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}}
        first = Consumer({{**settings, "group.protocol": "classic"}})
        second = Consumer({{**settings, "group.protocol": "consumer"}})
        try:
            joins = cluster.faults.add("watch", api="JoinGroup")
            first.subscribe(["{topic}"])
            joins.wait(hits=2)  # its group has a generation once the delay has passed
            second.subscribe(["{topic}"])
            while not second.assignment():
                first.poll(0.1)
                message = second.poll(0.1)
                if message is not None and message.error():
                    pytest.fail(f"it may not join: {{message.error()}}")
        finally:
            first.close()
            second.close()
"""
)
_JOINING: Final = """\
import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "GIVEN", [pytest.param(WRONG, id="incident"), pytest.param(RIGHT, id="prevented")]
)
def test_two_members_join_and_commit(GIVEN: TYPE) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"CONFIG}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 2}}, config=config) as cluster:
        settings = {{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}}
        members = [MEMBERS]
        try:
            for member in members:
                member.subscribe(["{topic}"])
                while not member.assignment():
                    for each in members:
                        message = each.poll(0.1)
                        if message is not None and message.error():
                            pytest.fail(f"a member is refused: {{message.error()}}")
            for partition, member in enumerate(members):
                member.commit(offsets=[TopicPartition("{topic}", partition, 0)], asynchronous=False)
        except KafkaException as error:
            pytest.fail(f"a member is put out: {{error}}")
        finally:
            for member in members:
                member.close()
"""


def _joining(given: str, wrong: str, right: str, config: str, members: str) -> Template:
    """With a setting of the brokers, a text, or of both members, one for each."""
    type_ = "str" if config else "tuple[str, str]"
    marks = {"GIVEN": given, "WRONG": wrong, "RIGHT": right, "TYPE": type_, "CONFIG": config}
    test = _JOINING
    for mark, text in {**marks, "MEMBERS": members}.items():
        test = test.replace(mark, text)
    return Template(test)


def _each(setting: str, given: str) -> str:
    return f'Consumer({{{{**settings, "{setting}": each}}}}) for each in {given}'


FULL: Final = _joining(
    "size", '"1"', '"2"', ', "group.max.size": size', "Consumer(settings) for _ in range(2)"
)
ONE_INSTANCE_ID: Final = _joining(
    "instances",
    '("reader", "reader")',
    '("reader 1", "reader 2")',
    "",
    _each("group.instance.id", "instances"),
)
OTHER_ASSIGNORS: Final = _joining(
    "assignors",
    '("range", "roundrobin")',
    '("range", "range")',
    "",
    _each("partition.assignment.strategy", "assignors"),
)
