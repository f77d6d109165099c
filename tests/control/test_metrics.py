"""The figures for Prometheus, as its parser reads them, and what clients did."""

import re
import urllib.request
from collections.abc import Iterator
from math import isnan
from typing import Final

import pytest
from confluent_kafka import TopicPartition
from prometheus_client.parser import text_string_to_metric_families

from docs.generate import REFERENCE
from mockbroker import MockCluster
from mockbroker.control.metrics import (
    BYTES_IN,
    BYTES_OUT,
    FIGURES,
    GROUPS,
    LOAD_TIME_AVG,
    LOAD_TIME_MAX,
    MESSAGES_IN,
    OFFSET_COMMITS,
    OFFSETS,
    Figure,
    exposition,
)
from mockbroker.control.target import Target
from mockbroker.faults import Faults
from mockbroker.rig.batches import Record
from mockbroker.trace import Trace

from ..driving.cluster import ClusterDriver
from ..driving.groups import replicated
from ..driving.partition import PartitionDriver, outcome
from ..driving.real_clients import a_consumer, a_producer, polled

Figures = dict[tuple[str, ...], float]
"""By name and values of labels in their order; a sample without topic has none there. NaN is -1."""
ODD: Final = ("a.b_c-d", "9" * 249)
RULES: Final = (
    (r"kafka.coordinator.(\w+)<type=(.+), name=(.+)><>Value", r"kafka_coordinator_\1_\2_\3"),
    (r"kafka.server<type=(.+)><>([a-z-]+)", r"kafka_server_\1_\2"),
    (r"kafka.(\w+)<type=(.+), name=(.+)PerSec\w*><>Count", r"kafka_\1_\2_\3_total"),
    (r"kafka.(\w+)<type=(.+), name=(.+)><>Value", r"kafka_\1_\2_\3"),
)
"""Those of jmx_exporter's examples that match these MBeans, in their order."""


def parsed(text: str) -> Figures:
    return {
        (sample.name, *(sample.labels[name] for name in ("broker", "topic") if name in sample.labels)): (
            -1 if isnan(sample.value) else sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(cluster: MockCluster) -> Figures:
    with urllib.request.urlopen(cluster.control_url + "/metrics", timeout=60) as answer:
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return parsed(answer.read().decode())


def looked_at(driver: ClusterDriver) -> Figures:
    """Those of a cluster that nobody serves."""
    cluster = driver.cluster
    trace = Trace(cluster)
    target = Target(cluster, Faults(cluster), trace, "", lambda: None, lambda _: None, trace.start)
    return parsed(target.do(exposition).decode())


def total(figures: Figures, name: str, topic: str) -> float:
    """Of all brokers."""
    return sum(value for key, value in figures.items() if key[0] == name and key[2:] == (topic,))


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(control=True, brokers=2, topics=dict.fromkeys(("orders", *ODD), 2)) as started:
        yield started


def produce(cluster: MockCluster, topic: str, count: int) -> None:
    producer = a_producer(cluster)
    for number in range(count):
        producer.produce(topic, b"x" * 100, partition=number % 2)
    assert producer.flush(60) == 0


@pytest.mark.parametrize("each", FIGURES, ids=lambda each: each.name)
def test_names_are_those_that_the_jmx_exporter_gives(each: Figure) -> None:
    domain, _, keys = each.mbean.partition(":")
    attribute = each.attribute or ("Count" if each.type == "counter" else "Value")
    told = f"{domain}<{keys.replace(',', ', ')}><>{attribute}"
    names = [match.expand(to) for pattern, to in RULES if (match := re.fullmatch(pattern, told))]
    assert re.sub(r"\W", "_", names[0]).lower() == each.name


def test_the_page_has_a_table_of_all_figures() -> None:
    page = (REFERENCE.parent / "control.md").read_text()
    assert re.findall(r"^\| `(kafka_.*)` \| `(.*)` \| (.*) \|$", page, re.MULTILINE) == [
        (each.name, "`: `".join(filter(None, (each.mbean, each.attribute))), each.text) for each in FIGURES
    ]


def test_an_idle_cluster_has_every_figure(cluster: MockCluster) -> None:
    figures = scraped(cluster)
    expected = {
        (each.name, *broker): -1 if each in (LOAD_TIME_MAX, LOAD_TIME_AVG) else 0
        for each in FIGURES
        for broker in ([("1",), ("2",)] if each.labels else [()])
    }
    assert figures == expected


def test_figures_of_topics_are_what_clients_did(cluster: MockCluster) -> None:
    counts = {"orders": 10, ODD[0]: 20, ODD[1]: 30}
    for topic, count in counts.items():
        produce(cluster, topic, count)
    figures = scraped(cluster)
    sent = {topic: total(figures, BYTES_IN.name, topic) for topic in counts}
    for topic, count in counts.items():
        assert total(figures, MESSAGES_IN.name, topic) == count
        assert count * 100 < sent[topic] < count * 200
        assert total(figures, BYTES_OUT.name, topic) == 0
    reader = a_consumer(cluster, "billing", **{"enable.auto.commit": False})
    reader.assign([TopicPartition(ODD[0], index, 0) for index in (0, 1)])
    polled(reader, 20)
    reader.close()
    figures = scraped(cluster)
    assert {topic: total(figures, BYTES_OUT.name, topic) for topic in counts} == {
        "orders": 0,
        ODD[0]: sent[ODD[0]],
        ODD[1]: 0,
    }
    for figure in (BYTES_IN, BYTES_OUT, MESSAGES_IN):
        for broker in ("1", "2"):
            of_topics = [figures.get((figure.name, broker, topic), 0) for topic in counts]
            assert figures[figure.name, broker] == sum(of_topics) > 0


def test_a_deleted_topic_has_no_figures_any_more(cluster: MockCluster) -> None:
    produce(cluster, "orders", 10)
    before = scraped(cluster)
    cluster.delete_topic("orders")
    after = scraped(cluster)
    assert [key for key in before if key not in after] == [key for key in before if key[2:] == ("orders",)]
    assert {key: before[key] for key in after} == after


def test_figures_of_groups_are_what_clients_did(cluster: MockCluster) -> None:
    produce(cluster, "orders", 2)
    member = a_consumer(cluster, "billing", **{"enable.auto.commit": False})
    member.subscribe(["orders"])
    polled(member, 2)
    states = f"{GROUPS.name}stable", f"{GROUPS.name}empty"

    def counted() -> list[float]:
        figures = scraped(cluster)
        names = (GROUPS.name, *states, OFFSETS.name, OFFSET_COMMITS.name)
        return [sum(figures[name, broker] for broker in ("1", "2")) for name in names]

    assert counted() == [1, 1, 0, 0, 0]
    for times in (1, 2):
        member.commit(offsets=[TopicPartition("orders", index, 1) for index in (0, 1)], asynchronous=False)
        assert counted() == [1, 1, 0, 2, 2 * times]
    member.close()
    assert counted() == [1, 0, 1, 2, 4]


def test_how_long_loads_took_is_told() -> None:
    """A slow load waits for 100 ms after each batch, and once more."""
    slow = {"offsets-load-pace": "slow"}
    driver = replicated(policies=slow, brokers=2, offsets_topic_num_partitions=2)
    for group, count in (("a", 1), ("b", 2)):
        for offset in range(count):
            driver.broker = driver.cluster.brokers[driver.cluster.offsets_partition(group).leader]
            driver.commit({("orders", 0): offset}, group_id=group)
    down = driver.cluster.offsets_partition("a").leader
    assert {driver.cluster.offsets_partition(group).leader for group in ("a", "b")} == {1, 2}
    driver.cluster.offsets_partition("b").lead(down)
    driver.advance(1000)
    driver.stop_broker(down)
    driver.advance(1000)
    figures = looked_at(driver)
    left = str(3 - down)
    assert {key[1]: value for key, value in figures.items() if key[0] == LOAD_TIME_MAX.name} == {left: 300}
    assert {key[1]: value for key, value in figures.items() if key[0] == LOAD_TIME_AVG.name} == {left: 250}


def test_a_broker_that_is_down_has_no_figures(cluster: MockCluster) -> None:
    cluster.stop_broker(1)
    assert {key[1] for key in scraped(cluster) if len(key) > 1} == {"2"}


def test_unclean_elections_are_told() -> None:
    driver = PartitionDriver(replicas=[1, 2], brokers=3, unclean_leader_election_enable="true")
    name = "kafka_controller_controllerstats_uncleanleaderelections_total"
    driver.stop_broker(2)
    driver.stop_broker(1)
    assert looked_at(driver)[name,] == 0
    driver.start_broker(2)
    assert driver.partition.leader == 2
    assert looked_at(driver)[name,] == 1


DIRTY: Final = "kafka_log_logcleanermanager_max_dirty_percent"
CLEANED_MS: Final = 15_000
"""Kafka's default for `log.cleaner.backoff.ms`."""


def test_dirt_is_the_share_of_bytes_that_the_cleaner_would_clean() -> None:
    """Each batch is a segment, and the last segment is active: it is neither clean nor dirty."""
    driver = PartitionDriver("3.9", replicas=[1, 2], cleanup_policy="compact", segment_bytes=100)
    keys = iter(range(100, 200))

    def percents_after(count: int) -> list[float]:
        for _ in range(count):
            assert outcome(driver.produce([Record(key=b"%d" % next(keys))]))[0] == 0
        figures = looked_at(driver)
        return [figures[DIRTY, broker] for broker in ("1", "2", "3")]

    assert percents_after(1) == [0, 0, 0]
    assert percents_after(1) == [100, 100, 0]
    driver.advance(CLEANED_MS)
    assert percents_after(0) == [0, 0, 0]
    assert percents_after(1) == [50, 50, 0]
    assert percents_after(1) == [66, 66, 0]
    driver.stop_broker(2)
    driver.advance(CLEANED_MS)
    driver.start_broker(2)
    assert percents_after(0) == [0, 66, 0]


def test_without_a_cleaner_there_is_no_dirt() -> None:
    driver = PartitionDriver(config={"log.cleaner.enable": "false"})
    assert not [key for key in looked_at(driver) if key[0] == DIRTY]
