"""The broker configuration that every recorded answer was given under; a mock takes the same."""

from types import MappingProxyType
from typing import Final

RELEASES: Final = ("3.9.2", "4.4.0")
"""Kafka releases with recorded answers."""

CLUSTER_SIZES: Final = (1, 3)
"""Numbers of brokers that questions ask for."""

INTERNAL_TOPICS: Final = MappingProxyType(
    {
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
    }
)
"""Makes them of one partition with one replica."""

BROKER_CONFIG: Final = MappingProxyType(
    {
        "auto.create.topics.enable": "true",
        "auto.leader.rebalance.enable": "false",
        "default.replication.factor": "1",
        "delete.topic.enable": "true",
        "group.initial.rebalance.delay.ms": "0",
        "log.retention.ms": "-1",
        "num.partitions": "1",
        **INTERNAL_TOPICS,
    }
)
"""What is set on top of Kafka's defaults and can be seen from outside."""

QUICK_CONFIG: Final = MappingProxyType(
    {
        "broker.heartbeat.interval.ms": "100",
        "broker.session.timeout.ms": "4000",
        "replica.fetch.backoff.ms": "20",
        "replica.fetch.wait.max.ms": "20",
    }
)
"""What makes several brokers wait less for each other: to stop, start, follow a new leader, and know how much
of a log is replicated."""

SHARE_CONFIG: Final = MappingProxyType(
    {
        "group.share.assignment.interval.ms": "0",
        "group.share.min.record.lock.duration.ms": "1000",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
    }
)
"""What is set for share groups. The first one only releases from 4.3 have; the others assign at once."""

STREAMS_CONFIG: Final = MappingProxyType(
    {"group.streams.assignment.interval.ms": "0", "group.streams.initial.rebalance.delay.ms": "0"}
)
"""What is set for streams groups, so that tasks are assigned at once."""

PROCESS_CONFIG: Final = MappingProxyType(
    {
        "log.cleaner.dedupe.buffer.size": "2097152",
        "num.io.threads": "4",
        "num.network.threads": "2",
    }
)
"""Keeps a real broker small; no question depends on it."""

LOGGING: Final = MappingProxyType(
    {
        "log4j.properties": """log4j.rootLogger=INFO, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=[%d] %p %m (%c)%n
""",
        "log4j2.xml": """<Configuration><Appenders><Console name="A">
<PatternLayout pattern="[%d] %p %m (%c)%n"/></Console></Appenders>
<Loggers><Root level="INFO"><AppenderRef ref="A"/></Root></Loggers></Configuration>
""",
    }
)
"""The files by which brokers of all releases log to their output."""
