"""Images of one log of records: shared, snapshot and behind, each is what its records make."""

from collections.abc import Sequence
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.metadata.image import MetadataImage
from mockbroker.metadata.log import MetadataLog
from mockbroker.metadata.records import (
    ActiveControllerRecord,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)

from ..properties import examples

IDS = [UUID(int=number) for number in range(1, 4)]
Draw = st.DataObject


def next_record(data: Draw, image: MetadataImage) -> Record:
    """One that may follow."""
    choices: list[st.SearchStrategy[Record]] = [st.builds(ActiveControllerRecord, st.integers(-1, 3))]
    brokers = [each for each in (1, 2, 3) if each not in image.brokers]
    if brokers:
        choices.append(st.builds(RegisterBrokerRecord, st.sampled_from(brokers), st.none()))
    if image.brokers:
        known = st.sampled_from(list(image.brokers))
        choices.append(st.builds(BrokerRegistrationChangeRecord, known, st.booleans()))
    new = [each for each in IDS if each not in image.topic_ids]
    if new:
        choices.append(st.sampled_from(new).map(lambda each: TopicRecord(f"t{each.int}", each)))
    if image.topic_ids:
        topics = st.sampled_from(list(image.topic_ids))
        choices.append(topics.map(RemoveTopicRecord))
        choices.append(
            topics.map(lambda t: PartitionRecord(t, len(image.topic_ids[t].partitions), [1, 2], [1], 1))
        )
    there = [(t, i) for t, topic in image.topic_ids.items() for i in range(len(topic.partitions))]
    if there:
        leader = st.one_of(st.none(), st.integers(-1, 3))
        isr = st.one_of(st.none(), st.lists(st.integers(1, 3), max_size=2))
        choices.append(
            st.tuples(st.sampled_from(there), isr, leader).map(
                lambda drawn: PartitionChangeRecord(*drawn[0], isr=drawn[1], leader=drawn[2])
            )
        )
    return data.draw(st.one_of(choices))


def content(image: MetadataImage) -> object:
    topics = [(each.name, each.id, list(each.partitions)) for each in image.topics.values()]
    assert list(image.topic_ids.values()) == list(image.topics.values())
    return image.brokers, topics, image.controller


def made_of(records: Sequence[Record]) -> object:
    image = MetadataImage()
    for record in records:
        image.apply(record)
    return content(image)


@settings(max_examples=examples(200))
@given(st.data())
def test_every_broker_has_the_image_at_its_own_offset(data: Draw) -> None:
    log, records, heard = MetadataLog(), list[Record](), dict[int, int]()
    for now_ms in range(data.draw(st.integers(1, 25))):
        what = data.draw(st.sampled_from(("write", "write", "write", "fall behind", "hear")))
        if what == "write":
            records.append(next_record(data, log.image))
            log.write(records[-1], now_ms)
        elif what == "fall behind":
            broker = data.draw(st.integers(1, 2))
            log.fall_behind(broker)
            heard.setdefault(broker, len(records))
        elif heard:
            broker = data.draw(st.sampled_from(list(heard)))
            behind = log.behind[broker]
            next_ms = behind.next_ms
            if next_ms is not None:
                heard[broker] += len(behind.hear(next_ms))
        assert content(log.image_of(3)) == made_of(records)
        for broker, offset in heard.items():
            assert content(log.image_of(broker)) == made_of(records[:offset])
            assert log.image_of(broker).offset == offset
    assert log.image.offset == len(records)


def test_a_leader_epoch_begins_where_a_leader_is_named() -> None:
    log, topic = MetadataLog(), IDS[0]
    log.write(TopicRecord("t", topic), 0)
    log.write(PartitionRecord(topic, 0, [1, 2], [1, 2], 1), 0)
    log.write(PartitionChangeRecord(topic, 0, isr=[1]), 0)
    log.write(PartitionChangeRecord(topic, 0, leader=1), 0)
    found = log.image.partition(topic, 0)
    assert found is not None
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (1, 1, 2)
    assert (found.replicas, found.isr) == ([1, 2], [1])
