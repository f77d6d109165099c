"""The figures that operators of Kafka watch, for Prometheus: `GET /metrics`.

They have the names that Prometheus' jmx_exporter gives to Kafka's MBeans by its example configurations
(`kafka-2_0_0.yml`, `kafka-kraft-3_0_0.yml`).
"""

from collections.abc import Iterable, Iterator
from math import nan
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ..coordinators.classic.states import GroupState
from ..coordinators.group_metrics import GroupMetrics
from ..log.compaction import dirty
from .target import Target

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster
    from ..replication.topic_stats import TopicStats

__all__ = ["CONTENT_TYPE", "FIGURES", "Figure", "exposition"]


class Figure(NamedTuple):
    """One figure: the MBean that has it in Kafka, the attribute if that is not `Count` or `Value`, and what
    it is. Only counters have names that end in `_total`."""

    name: str
    mbean: str
    text: str
    labels: tuple[str, ...] = ("broker",)
    attribute: str = ""

    @property
    def type(self) -> Literal["counter", "gauge"]:
        return "counter" if self.name.endswith("_total") else "gauge"


Samples = Iterator[tuple[Figure, tuple[str, ...], float]]
"""Figures with the values of their labels, of which the last may be left out."""
_OF_TOPIC: Final = ("broker", "topic")
_GROUPS: Final = "kafka.coordinator.group:type=GroupMetadataManager,name="
_COORDINATOR: Final = "kafka.server:type=group-coordinator-metrics"
_TOPICS: Final = "kafka.server:type=BrokerTopicMetrics,name="

BYTES_IN: Final = Figure(
    "kafka_server_brokertopicmetrics_bytesin_total",
    f"{_TOPICS}BytesInPerSec",
    "Bytes that were appended, as producers sent them.",
    _OF_TOPIC,
)
BYTES_OUT: Final = Figure(
    "kafka_server_brokertopicmetrics_bytesout_total",
    f"{_TOPICS}BytesOutPerSec",
    "Bytes that consumers fetched, not followers.",
    _OF_TOPIC,
)
MESSAGES_IN: Final = Figure(
    "kafka_server_brokertopicmetrics_messagesin_total",
    f"{_TOPICS}MessagesInPerSec",
    "Records that were appended.",
    _OF_TOPIC,
)
OFFSETS: Final = Figure(
    "kafka_coordinator_group_groupmetadatamanager_numoffsets",
    f"{_GROUPS}NumOffsets",
    "Committed offsets that the group coordinator holds.",
)
GROUPS: Final = Figure(
    "kafka_coordinator_group_groupmetadatamanager_numgroups",
    f"{_GROUPS}NumGroups",
    "Groups that the group coordinator holds.",
)
GROUPS_IN_STATE: Final = {
    state: Figure(
        f"kafka_coordinator_group_groupmetadatamanager_numgroups{state.value.lower()}",
        f"{_GROUPS}NumGroups{state.value}",
        f"Groups in the state {state.value}.",
    )
    for state in GroupState
}
OFFSET_COMMITS: Final = Figure(
    "kafka_server_group_coordinator_metrics_offset_commit_count",
    _COORDINATOR,
    "Offsets that were committed.",
    attribute="offset-commit-count",
)
LOAD_TIME_MAX: Final = Figure(
    "kafka_server_group_coordinator_metrics_partition_load_time_max",
    _COORDINATOR,
    "The longest time, in ms, that a load of a partition of `__consumer_offsets` took in the last minute.",
    attribute="partition-load-time-max",
)
LOAD_TIME_AVG: Final = Figure(
    "kafka_server_group_coordinator_metrics_partition_load_time_avg",
    _COORDINATOR,
    "The average of these times, in ms.",
    attribute="partition-load-time-avg",
)
MAX_DIRTY_PERCENT: Final = Figure(
    "kafka_log_logcleanermanager_max_dirty_percent",
    "kafka.log:type=LogCleanerManager,name=max-dirty-percent",
    "The largest share of bytes in a compacted log, in percent, that the log cleaner would clean now.",
)
UNCLEAN_ELECTIONS: Final = Figure(
    "kafka_controller_controllerstats_uncleanleaderelections_total",
    "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
    "Elections of leaders that were not in sync.",
    (),
)
FIGURES: Final = (
    *(BYTES_IN, BYTES_OUT, MESSAGES_IN),
    *(OFFSETS, GROUPS, *GROUPS_IN_STATE.values()),
    *(OFFSET_COMMITS, LOAD_TIME_MAX, LOAD_TIME_AVG),
    *(MAX_DIRTY_PERCENT, UNCLEAN_ELECTIONS),
)


def exposition(target: Target) -> bytes:
    """All figures at this moment, in the text format 0.0.4."""
    return generate_latest(_Collector(target.cluster))


class _Collector:
    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster

    def collect(self) -> Iterable[Metric]:
        families: dict[Figure, CounterMetricFamily | GaugeMetricFamily] = {}
        for each in FIGURES:
            made = CounterMetricFamily if each.type == "counter" else GaugeMetricFamily
            families[each] = made(each.name, each.text, labels=each.labels)
        for figure, labels, value in _samples(self._cluster):
            families[figure].add_metric(labels, value)
        return families.values()


def _samples(cluster: "Cluster") -> Samples:
    """Brokers that are down have none."""
    for broker in cluster.brokers.values():
        if broker.online:
            yield from _traffic(broker)
            yield from _groups(broker)
            yield from _cleaning(broker)
    yield UNCLEAN_ELECTIONS, (), cluster.controller.unclean_elections


def _traffic(broker: "Broker") -> Samples:
    stats, name = broker.replicas.stats, str(broker.id)
    found: list[tuple[tuple[str, ...], TopicStats]] = [((name,), stats.all_topics)]
    found += [((name, topic), each) for topic, each in stats.topics.items()]
    for labels, each in found:
        yield BYTES_IN, labels, each.bytes_in
        yield BYTES_OUT, labels, each.bytes_out
        yield MESSAGES_IN, labels, each.messages_in


def _groups(broker: "Broker") -> Samples:
    labels = (str(broker.id),)
    # Looking must not start a coordinator that nobody has asked yet.
    coordinator = vars(broker).get("groups")
    groups = list(coordinator.groups.values()) if coordinator is not None else []
    metrics = coordinator.shards.metrics if coordinator is not None else GroupMetrics(broker.environment)
    yield OFFSETS, labels, sum(len(group.offsets.committed) for group in groups)
    yield GROUPS, labels, len(groups)
    for state, figure in GROUPS_IN_STATE.items():
        yield figure, labels, sum(group.state is state for group in groups)
    yield OFFSET_COMMITS, labels, metrics.offset_commits
    times_ms = metrics.load_times_ms or [nan]
    yield LOAD_TIME_MAX, labels, max(times_ms)
    yield LOAD_TIME_AVG, labels, fmean(times_ms)


def _cleaning(broker: "Broker") -> Samples:
    """As `LogCleanerManager.grabFilthiestCompactedLog` computes it."""
    if not broker.environment.configs.broker_bool("log.cleaner.enable"):
        return
    now_ms = broker.environment.now_ms
    ratios = (dirty(each.log, now_ms).ratio for each in broker.replicas if each.settings.compacted)
    yield MAX_DIRTY_PERCENT, (str(broker.id),), int(100 * max(ratios, default=0))
