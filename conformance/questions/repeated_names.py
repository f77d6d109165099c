"""What is named twice in one request: answered twice, once, refused, or counted once.

Modules of single APIs ask this too where they had reason to before.
"""

from typing import Any

from ...rig.consumer_scene import ConsumerMember
from ...rig.group_scene import Member, commit, commit_fields, stable, subscription
from ...rig.scene import UNKNOWN_TOPIC_ID, Scene
from ...rig.transaction_scene import Producer
from ..registry import Steps, about
from .create_acls import binding
from .describe_acls import asked as acl_filter
from .fetch import fields as fetch_fields
from .fetch import part as fetch_part
from .fetch_sessions import FEW as FEW_WITH_SESSIONS


def _offsets(s: Scene, group: str) -> Any:
    one = {"group_id": group, "member_epoch": -1, "topics": None}
    found = s.call("offset_fetch", {"groups": [one], "require_stable": False}, version=9)
    return sorted(
        [each["partition_index"], each["committed_offset"]]
        for topic in found["groups"][0]["topics"]
        for each in topic["partitions"]
    )


@about("offset_fetch")(since=8)
def group_named_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    for partition in range(2):
        commit(s, group, topic, 5 + partition, partition)

    def ask(*topics: list[dict[str, Any]] | None, name: str = group) -> Any:
        wanted = [{"group_id": name, "member_epoch": -1, "topics": each} for each in topics]
        return s.ask(groups=wanted, require_stable=False, within=1.0)

    zero, one = ([{**s.topic_ref(topic), "partition_indexes": [index]}] for index in range(2))
    yield "all of it, twice", ask(None, None)
    yield "all of it, three times", ask(None, None, None)
    yield "one partition, then the other", ask(zero, one)
    yield "all, then one partition", ask(None, zero)
    yield "one partition, then all", ask(zero, None)
    yield "unknown, twice", ask(None, None, name=s.name("none"))
    yield "empty, twice", ask(None, None, name="")


@about("offset_fetch")()
def topic_named_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)
    commit(s, group, topic, 5)

    def ask(*indexes: list[int], unknown: bool = False) -> Any:
        name = s.name("unknown") if unknown else topic
        topics = [{"name": name, "partition_indexes": each} for each in indexes]
        by_id = [each | {"topic_id": s.topic_ref(name)["topic_id"]} for each in topics]
        one = {"group_id": group, "member_id": None, "member_epoch": -1, "topics": by_id}
        return s.ask({"group_id": group, "topics": topics, "groups": [one], "require_stable": False})

    yield "the same partition", ask([0], [0])
    yield "another partition", ask([0], [1])
    yield "unknown", ask([0], [0], unknown=True)


@about("consumer_group_describe")()
def live_group_named_twice(s: Scene) -> Steps:
    member = ConsumerMember(s, s.name("g"), [s.topic()])
    member.join()
    yield "twice", s.ask(group_ids=[member.group, member.group])


@about("describe_producers")()
def producers_of_a_partition_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    Producer(s).begin(topic)

    def ask(name: str, *indexes: list[int]) -> Any:
        return s.ask(topics=[{"name": name, "partition_indexes": each} for each in indexes])

    yield "a partition", ask(topic, [0, 0])
    yield "a topic", ask(topic, [0], [1])
    yield "a topic and a partition", ask(topic, [0], [0])
    yield "an unknown partition", ask(topic, [7, 7])
    yield "an unknown topic", ask(s.name("unknown"), [0], [0])


@about("describe_transactions")()
def ids_named_twice(s: Scene) -> Steps:
    producer = Producer(s)
    producer.add(s.topic())
    none = s.name("none")
    yield "known", s.ask(transactional_ids=[producer.name, producer.name])
    yield "unknown", s.ask(transactional_ids=[none, none])
    yield "both", s.ask(transactional_ids=[none, producer.name, none, producer.name])


@about("offset_for_leader_epoch")()
def epochs_of_a_topic_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 3)

    def ask(name: str, *indexes: int) -> Any:
        part = {"current_leader_epoch": -1, "leader_epoch": 0}
        topics = [{"topic": name, "partitions": [{**part, "partition": index}]} for index in indexes]
        return s.ask(replica_id=-1, topics=topics)

    yield "the same partition", ask(topic, 0, 0)
    yield "another partition", ask(topic, 0, 1)
    yield "unknown", ask(s.name("unknown"), 0, 0)


@about("describe_configs")()
def resources_named_twice(s: Scene) -> Steps:
    name = s.topic()

    def ask(*keys: list[str] | None, kind: int = 2, named: str = name) -> Any:
        resource = {"resource_type": kind, "resource_name": named}
        asked = [{**resource, "configuration_keys": each} for each in keys]
        return s.ask(resources=asked, include_synonyms=False, include_documentation=False)

    yield "a topic, other keys", ask(["retention.ms"], ["cleanup.policy"])
    yield "a topic, a key and none", ask(["retention.ms"], [])
    yield "an unknown topic", ask(["retention.ms"], ["retention.ms"], named=s.name("unknown"))
    yield "all brokers", ask(["num.partitions"], ["num.partitions"], kind=4, named="")


@about("delete_records")()
def records_of_a_topic_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 3)

    def ask(name: str, *parts: tuple[int, int]) -> Any:
        topics = [
            {"name": name, "partitions": [{"partition_index": index, "offset": offset}]}
            for index, offset in parts
        ]
        return s.ask(topics=topics, timeout=5000)

    yield "another partition", ask(topic, (0, 1), (1, 0))
    yield "the same partition", ask(topic, (0, 2), (0, 3))
    yield "where it starts", s.offset(topic, timestamp=-2)
    yield "unknown", ask(s.name("unknown"), (0, 1), (0, 1))


@about("offset_commit")()
def topics_committed_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=2)

    def ask(*offsets: tuple[int, int]) -> Any:
        fields = commit_fields(s, topic)
        topics = [commit_fields(s, topic, offset, index)["topics"][0] for index, offset in offsets]
        return s.ask({"group_id": group, **fields, "topics": topics})

    yield "another partition", ask((0, 3), (1, 4))
    yield "stored", _offsets(s, group)
    yield "the same partition", ask((0, 7), (0, 6))
    yield "stored then", _offsets(s, group)
    yield "an unknown partition", ask((7, 1), (7, 1))


@about("txn_offset_commit")()
def partitions_committed_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = Producer(s)
    s.call("add_offsets_to_txn", {**producer.ids, "group_id": s.name("g")})
    fields = {**producer.ids, "group_id": s.name("g"), "generation_id": -1, "member_id": ""}

    def ask(*topics: list[tuple[int, int]]) -> Any:
        return s.ask(
            {
                **fields,
                "topics": [
                    {
                        **s.topic_ref(topic),
                        "partitions": [
                            {
                                "partition_index": index,
                                "committed_offset": offset,
                                "committed_leader_epoch": 0,
                                "committed_metadata": "",
                            }
                            for index, offset in each
                        ],
                    }
                    for each in topics
                ],
            }
        )

    yield "a partition", ask([(0, 3), (0, 2)])
    yield "a topic", ask([(0, 5)], [(1, 6)])
    yield "a topic and a partition", ask([(0, 9)], [(0, 8)])
    yield "an unknown partition", ask([(7, 1), (7, 1)])
    yield "known and unknown", ask([(0, 9), (7, 1)], [(1, 6), (0, 8)])
    yield "no partitions", ask([], [(0, 8)], [])
    producer.end(committed=True)
    yield "stored", s.until(lambda: _offsets(s, s.name("g")))


@about("offset_delete")()
def offsets_named_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic(partitions=3)
    for partition in range(3):
        commit(s, group, topic, 5, partition)

    def ask(name: str, *parts: list[int]) -> Any:
        topics = [
            {"name": name, "partitions": [{"partition_index": index} for index in each]} for each in parts
        ]
        return s.ask(group_id=group, topics=topics)

    yield "a partition", ask(topic, [0, 0])
    yield "left", _offsets(s, group)
    yield "an unknown partition", ask(topic, [7, 7])
    yield "an unknown topic", ask(s.name("unknown"), [0], [0])
    yield "a topic", ask(topic, [1], [2])
    yield "left then", _offsets(s, group)


@about("offset_delete")()
def subscribed_topic_named_twice(s: Scene) -> Steps:
    group, topic = s.name("g"), s.topic()
    commit(s, group, topic)
    stable(s, group, protocols=[{"name": "range", "metadata": subscription(topic)}])
    twice = [{"name": topic, "partitions": [{"partition_index": 0}, {"partition_index": 0}]}] * 2
    yield "a topic and a partition", s.ask(group_id=group, topics=twice)


@about("add_partitions_to_txn")()
def partitions_named_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = Producer(s)

    def ask(name: str, *parts: list[int]) -> Any:
        topics = [{"name": name, "partitions": each} for each in parts]
        if s.version < 4:
            ids = {f"v3_and_below_{key}": value for key, value in producer.ids.items()}
            return s.ask({**ids, "v3_and_below_topics": topics})
        return s.ask({"transactions": [{**producer.ids, "verify_only": False, "topics": topics}]})

    yield "an unknown partition", ask(topic, [7, 7])
    yield "an unknown topic", ask(s.name("unknown"), [0], [0])
    yield "a partition", ask(topic, [0, 0])
    yield "a topic", ask(topic, [0], [1])
    yield "a topic and a partition", ask(topic, [0], [0])
    yield "known and unknown", ask(topic, [0, 7], [0])


@about("add_partitions_to_txn")(since=4)
def id_named_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer, none = Producer(s), s.name("none")

    def ask(*asked: tuple[dict[str, Any], int, bool]) -> Any:
        return s.ask(
            transactions=[
                {**ids, "verify_only": verify, "topics": [{"name": topic, "partitions": [index]}]}
                for ids, index, verify in asked
            ]
        )

    unknown = {**producer.ids, "transactional_id": none}
    yield "unknown", ask((unknown, 0, True), (unknown, 1, True))
    yield "adds", ask((producer.ids, 0, False), (producer.ids, 1, False))
    yield "verifies", ask((producer.ids, 0, True), (producer.ids, 1, True))
    yield "the same", ask((producer.ids, 0, True), (producer.ids, 0, True))
    yield "adds and verifies", ask((producer.ids, 0, False), (producer.ids, 1, True))


@about("write_txn_markers")()
def markers_named_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    producer = Producer(s)

    def marker(*parts: list[int], name: str = topic) -> dict[str, Any]:
        return {
            "producer_id": producer.id,
            "producer_epoch": producer.epoch,
            "transaction_result": False,
            "topics": [{"name": name, "partition_indexes": each} for each in parts],
            "coordinator_epoch": 7,
            "transaction_version": 0,
        }

    yield "a partition", s.ask(markers=[marker([0, 0])], within=1.0)
    yield "log end", s.offset(topic)
    yield "a topic", s.ask(markers=[marker([0], [1])], within=1.0)
    yield "log ends", [s.offset(topic), s.offset(topic, 1)]
    yield "a topic and a partition", s.ask(markers=[marker([0], [0])], within=1.0)
    yield "log end then", s.offset(topic)
    yield "a marker", s.ask(markers=[marker([0]), marker([0])], within=1.0)
    yield "log end after two", s.offset(topic)
    yield "a marker, other partitions", s.ask(markers=[marker([0]), marker([1])], within=1.0)
    yield "an unknown partition", s.ask(markers=[marker([7, 7])], within=1.0)
    yield "an unknown topic", s.ask(markers=[marker([0], [0], name=s.name("unknown"))], within=1.0)


@about("metadata")(since=12)
def by_id_and_by_name(s: Scene) -> Steps:
    topic = s.topic()
    by_id, by_name = {"topic_id": s.topic_id(topic), "name": None}, {"topic_id": None, "name": topic}
    unknown = {"topic_id": UNKNOWN_TOPIC_ID, "name": None}
    for label, topics in {
        "id, name": [by_id, by_name],
        "name, id": [by_name, by_id],
        "an unknown id twice": [unknown, unknown],
    }.items():
        yield label, s.ask(topics=topics, allow_auto_topic_creation=False)["topics"]


@about("metadata")(since=4)
def unknown_topic_twice(s: Scene) -> Steps:
    topics = [{"name": s.name("unknown")}] * 2
    yield "unknown", s.ask(topics=topics, allow_auto_topic_creation=False)["topics"]
    yield "invalid", s.ask(topics=[{"name": "a b"}] * 2, allow_auto_topic_creation=False)["topics"]


@about("describe_topic_partitions")()
def unknown_twice(s: Scene) -> Steps:
    topics = [{"name": s.name("unknown")}] * 2
    yield "unknown", s.ask(topics=topics, response_partition_limit=10, cursor=None)


@about("alter_partition_reassignments")()
def reassignments_named_twice(s: Scene) -> Steps:
    topic, node = s.topic("t", 2), s.node(0)

    def ask(*parts: tuple[int, list[int] | None], name: str = topic) -> Any:
        moved = [{"partition_index": index, "replicas": replicas} for index, replicas in parts]
        topics = [{"name": name, "partitions": moved}]
        return s.ask(topics=topics, timeout=10000, allow_replication_factor_change=True)

    yield "a partition", ask((0, [node]), (0, [node]))
    yield "good and bad", ask((0, [node]), (0, [9999]))
    yield "a cancellation", ask((0, None), (0, None))
    yield "an unknown partition", ask((7, [node]), (7, [node]))
    again = {"name": s.name("none"), "partitions": [{"partition_index": 0, "replicas": [node]}]}
    yield "an unknown topic", s.ask(topics=[again, again], timeout=10000)


@about("list_partition_reassignments")()
def listed_twice(s: Scene) -> Steps:
    topic = s.topic("t", 2)

    def ask(name: str, *indexes: list[int]) -> Any:
        topics = [{"name": name, "partition_indexes": each} for each in indexes]
        return s.ask(topics=topics, timeout=10000)

    yield "a partition", ask(topic, [0, 0])
    yield "a topic", ask(topic, [0], [0])
    yield "an unknown topic", ask(s.name("none"), [0], [0])


@about("leave_group")(since=3)
def members_named_twice(s: Scene) -> Steps:
    instance = s.name("instance")
    member = stable(s, s.name("g"), instance=instance)

    def leaving(*members: tuple[str, str | None]) -> Any:
        return member.leave(
            members=[
                {"member_id": member_id, "group_instance_id": named, "reason": None}
                for member_id, named in members
            ]
        )

    yield "unknown", leaving(("nobody", None), ("nobody", None))
    yield "instance", leaving(("", instance), ("", instance))
    again = stable(s, s.name("g"), instance=instance)
    yield "member and instance", leaving((again.id, None), ("", instance))


@about("sync_group")()
def assigned_twice(s: Scene) -> Steps:
    member = Member(s, s.name("g"))
    member.join()
    given = [{"member_id": member.id, "assignment": each} for each in (b"first", b"second")]
    yield "twice", s.ask(member.sync_fields() | {"assignments": given}, client=member.client)


@about("consumer_group_heartbeat")()
def topics_of_a_member_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    member = ConsumerMember(s, s.name("g"), [topic, topic])
    yield "joins", member.join()

    def owning(*parts: list[int]) -> Any:
        twice = [{**each, "partitions": indexes} for each in member.owned for indexes in parts]
        return member.heartbeat(topic_partitions=twice)

    yield "owns a topic twice", owning([0], [1])
    yield "owns a partition twice", owning([0, 1, 0])
    yield "subscribes again", member.heartbeat(subscribed_topic_names=[topic, topic, topic])
    (group,) = s.call("consumer_group_describe", {"group_ids": [member.group]})["groups"]
    yield "described", [each["subscribed_topic_names"] for each in group.get("members", [])]


@about("list_transactions")()
def filters_given_twice(s: Scene) -> Steps:
    producer = Producer(s)
    ids = [producer.id, producer.id]
    yield "producer id", s.ask(producer_id_filters=ids, state_filters=[])
    yield "state", s.ask(producer_id_filters=ids, state_filters=["Empty", "Empty"])
    yield "unknown state", s.ask(producer_id_filters=ids, state_filters=["Asleep", "Asleep"])


@about("list_groups")(since=4)
def kinds_given_twice(s: Scene) -> Steps:
    stable(s, s.name("g"))

    def listed(**filters: list[str]) -> Any:
        answer = s.ask({"states_filter": [], "types_filter": [], **filters})
        return {**answer, "groups": [each for each in answer["groups"] if s.suffix in each["group_id"]]}

    yield "state", listed(states_filter=["Stable", "Stable"])
    yield "state in other letters", listed(states_filter=["Stable", "STABLE"])
    if s.version >= 5:
        yield "type", listed(types_filter=["classic", "classic"])


@about("fetch")(at=FEW_WITH_SESSIONS)
def named_twice_in_a_session(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 1, 1)
    ids = {"session_id": 0, "session_epoch": 0}

    def ask(*parts: dict[str, Any], forgotten: tuple[list[int], ...] = ()) -> Any:
        gone = [{**s.topic_ref(topic, "topic"), "partitions": each} for each in forgotten]
        topics = [(topic, [each]) for each in parts]
        answer = s.ask({**fetch_fields(s, *topics, **ids), "forgotten_topics_data": gone})
        ids.update(session_id=answer["session_id"], session_epoch=ids["session_epoch"] + 1)
        return answer

    yield "opened with a topic twice", ask(fetch_part(0, 0), fetch_part(0, 1))
    yield "nothing new", ask()
    yield "added twice", ask(fetch_part(1, 0), fetch_part(1, 0))
    yield "changed twice", ask(fetch_part(0, 2), fetch_part(0, 1))
    yield "forgotten twice", ask(forgotten=([0, 0], [0]))
    yield "after it", ask()


@about("fetch")(at=FEW_WITH_SESSIONS)
def partition_twice_in_a_session(s: Scene) -> Steps:
    topic = s.topic()
    s.fill(topic, 1, 1)
    first = fetch_fields(s, (topic, [fetch_part(0, 0), fetch_part(0, 1)]), session_epoch=0)
    answer = s.ask(first)
    yield "opened", answer
    asked = fetch_fields(s, session_id=answer["session_id"], session_epoch=1)
    yield "nothing new", s.ask(asked)


@about("create_acls")()
def binding_named_twice(s: Scene) -> Steps:
    yield "twice", s.ask(creations=[binding(), binding()])


@about("delete_acls")()
def filter_named_twice(s: Scene) -> Steps:
    yield "twice", s.ask(filters=[acl_filter(), acl_filter()])
