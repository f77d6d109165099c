"""What users may do, with which ACLs."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.scene import CLOSED
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named
from mockbroker.security import AUTHORIZER

from . import administration, requests
from .altering import altering
from .entries import acls, by_default, matching
from .requests import Asked, records, two
from .stage import AclStage

_HEARTBEATS: Final = 60
_BETWEEN_S: Final = 0.5
AUTHORIZING: Final = {
    "authorizer.class.name": AUTHORIZER,
    "super.users": "User:ANONYMOUS;User:admin",
    "auto.create.topics.enable": "true",
}


def _each(asked: Iterable[Asked], doc: str) -> Callable[[AclStage], Steps]:
    def story(s: AclStage) -> Steps:
        s.topics("a", "b")
        alice = s.user()
        for api, ask, needed, versions in asked:
            for version in versions:
                chosen = s.newest(api) if version < 0 else s.newest(api, version)
                if chosen < 0:
                    continue
                fields = ask(s)
                label = f"{api} v{'newest' if version < 0 else version}"
                yield label, alice.asks(api, fields, chosen)
                for acl in needed:
                    s.give(acl)
                    yield f"{label}, {acl}", alice.asks(api, fields, chosen)
                s.take()

    story.__doc__ = doc
    return story


def all_topics(s: AclStage) -> Steps:
    """Requests for whatever there is show what may be described."""
    s.topics("a", "b")
    alice = s.user()

    def mine(found: list[dict[str, Any]], name: str) -> list[Any]:
        return [each for each in found if each[name].startswith(s.named(""))]

    operations = {"include_topic_authorized_operations": True, "include_cluster_authorized_operations": True}
    for label, acls_ in (("nothing", ()), ("a", ("alice allow describe on topic:a",))):
        s.give(*acls_)
        for version in (1, 9):
            answer = alice.ask("metadata", version, topics=None, **operations)
            yield f"{label}: metadata v{version}", (mine(answer["topics"], "name"), len(answer["topics"]))
        answer = (
            alice.ask("describe_topic_partitions", topics=[])
            if s.newest("describe_topic_partitions") >= 0
            else None
        )
        yield f"{label}: describe_topic_partitions", answer
        yield f"{label}: list_groups", alice.ask("list_groups")["groups"]
        yield f"{label}: list_transactions", alice.ask("list_transactions")["transaction_states"]


def creating(s: AclStage) -> Steps:
    """Topics that are created, by request or by use."""
    alice = s.user()
    wanted = [
        {"name": s.named(each), "num_partitions": 1, "replication_factor": 1}
        for each in ("a", "b", "twice", "twice")
    ]
    asked: dict[str, Any] = {"topics": wanted, "timeout": 5000, "validate_only": True}

    def short(answer: Any) -> Any:
        for each in answer["topics"]:
            each["configs"] = each["configs"] and len(each["configs"]) > 0
        return answer["topics"]

    yield "nothing", short(alice.ask("create_topics", **asked))
    s.give("alice allow create on topic:a")
    yield "a", short(alice.ask("create_topics", **asked))
    s.give("alice allow describe_configs on topic:a")
    yield "its configuration", short(alice.ask("create_topics", **asked))
    s.give("alice allow create on cluster")
    yield "all", short(alice.ask("create_topics", **asked))
    s.take()
    used: dict[str, Any] = {
        "topics": [{"name": s.named(each)} for each in ("x", "y")],
        "allow_auto_topic_creation": True,
    }
    yield "used", alice.ask("metadata", 9, **used)["topics"]
    s.give("alice allow describe on topic:x", "alice allow describe on topic:y")
    yield "used, described", alice.ask("metadata", 9, **used)["topics"]
    s.give("alice allow create on topic:x")
    s.brokers.until(lambda: alice.ask("metadata", 9, **used)["topics"][0]["error_code"] == "NONE", "x")
    yield "used, created", alice.ask("metadata", 9, **used)["topics"]
    s.give("alice allow create on cluster")
    s.brokers.until(lambda: alice.ask("metadata", 9, **used)["topics"][1]["error_code"] == "NONE", "y")
    yield "used, on the cluster", alice.ask("metadata", 9, **used)["topics"]


def deleting(s: AclStage) -> Steps:
    """DeleteTopics, by name and by id."""
    alice = s.user()
    s.topics("a", "b", "c")
    ids = [s.topic_id(each) for each in "abc"]
    names = [s.named(each) for each in ("a", "b", "missing", "twice", "twice")]

    def delete() -> Any:
        by_name = [{"name": each} for each in names]
        by_id = [{"topic_id": each} for each in (ids[2], s.topic_id("b"))]
        found = alice.ask("delete_topics", topics=by_name, timeout=5000)["responses"]
        return found, alice.ask("delete_topics", topics=by_id, timeout=5000)["responses"]

    def old() -> Any:
        return alice.ask("delete_topics", 3, topic_names=names, timeout=5000)["responses"]

    yield "nothing", delete()
    yield "nothing, v3", old()
    s.give(
        "alice allow describe on topic:a*",
        "alice allow describe on topic:c",
        "alice allow describe on topic:missing",
    )
    yield "described", delete()
    yield "described, v3", old()
    s.give("alice allow delete on topic:a", "alice allow delete on topic:c")
    yield "deleted", delete()


def idempotent(s: AclStage) -> Steps:
    """InitProducerId and Produce without transactions."""
    s.topics("a", "b")
    alice = s.user()
    data = records(producer_id=1000, producer_epoch=0, sequence=0)
    fields: dict[str, Any] = {
        "acks": -1,
        "timeout": 5000,
        "topic_data": [{"name": s.named("a"), "partition_data": [{"index": 0, "records": data}]}],
    }

    def tries() -> Any:
        begun = alice.ask("init_producer_id", 1, transactional_id=None, transaction_timeout=5000)
        written = alice.ask("produce", 8, **fields)["responses"][0]["partition_responses"][0]
        return begun["error_code"], written["error_code"]

    yield "nothing", tries()
    for acl in (
        "alice allow read on topic:a",
        "alice allow idempotent_write on cluster",
        "alice allow write on topic:b",
        "alice allow all on topic:b*",
        "alice allow write on topic:a",
    ):
        s.give(acl)
        yield acl, tries()
        s.take()
    s.give("alice allow write on topic:b", "alice deny write on topic:b*")
    yield "dominated", tries()
    s.take()
    s.give("alice allow write on topic:b", "alice deny write on topic:*")
    yield "denied everywhere", tries()
    s.take()
    s.give("alice allow write on topic:b", "alice deny all on topic:a")
    yield "denied elsewhere", tries()


def unacknowledged(s: AclStage) -> Steps:
    """Produce with acks=0: a refusal closes the connection."""
    s.topics("a", "b")
    alice = s.user()

    def written(*names: str) -> Any:
        data = [{"index": 0, "records": records()}]
        topics = [{"name": s.named(each), "partition_data": data} for each in names]
        try:
            alice.client.send("produce", 8, {"acks": 0, "timeout": 5000, "topic_data": topics})
            return alice.ask("heartbeat", 1, group_id=s.named("g"), generation_id=1, member_id="m")
        except (BrokenPipeError, ConnectionError):
            return CLOSED

    s.give("alice allow write on topic:a")
    yield "allowed", written("a")
    yield "refused for one", written("a", "b")


def in_sessions(s: AclStage) -> Steps:
    """ACLs are given and taken while a fetch session goes on."""
    s.topics("a", "b")
    alice = s.user()
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000, "current_leader_epoch": -1}
    both = two(s, "topic", partitions=[partition])
    fields: dict[str, Any] = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1000}
    first = alice.client.call("fetch", 11, {**fields, "session_id": 0, "session_epoch": 0, "topics": both})
    yield "first", s.plain(s.shown.answer(first, "fetch"))
    session: dict[str, Any] = {**fields, "session_id": first["session_id"], "topics": []}
    yield "again", alice.ask("fetch", 11, **session, session_epoch=1)
    s.give("alice allow read on topic:a")
    yield "a may be read", alice.ask("fetch", 11, **session, session_epoch=2)
    yield "again", alice.ask("fetch", 11, **session, session_epoch=3)
    s.take("alice allow read on topic:a")
    yield "a may no longer be read", alice.ask("fetch", 11, **session, session_epoch=4)


def as_follower(s: AclStage) -> Steps:
    """Whoever fetches as a broker does."""
    s.topics("a")
    alice = s.user()
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000, "current_leader_epoch": -1}
    asked: dict[str, Any] = {
        "replica_id": 1,
        "max_wait": 0,
        "min_bytes": 0,
        "max_bytes": 1000,
        "session_epoch": -1,
    }
    asked["topics"] = [{"topic": s.named("a"), "partitions": [partition]}]
    yield "nothing", alice.ask("fetch", 11, **asked)
    s.give("alice allow read on topic:a")
    yield "read", alice.ask("fetch", 11, **asked)


def new_groups(s: AclStage) -> Steps:
    """Groups of the consumer protocol (KIP-848)."""
    s.needs("consumer_group_heartbeat", 0)
    s.topics("a", "b")
    alice = s.user()

    def beat(*names: str) -> Any:
        topics = [s.named(each) for each in names]
        asked: dict[str, Any] = {
            "group_id": s.named("n"),
            "member_id": "m" * 22,
            "member_epoch": 0,
            "topic_partitions": [],
        }
        answer = alice.ask(
            "consumer_group_heartbeat", **asked, rebalance_timeout=5000, subscribed_topic_names=topics
        )
        return {
            name: answer[name]
            for name in ("error_code", "error_message", "member_epoch", "heartbeat_interval")
        }

    def described() -> Any:
        asked: dict[str, Any] = {
            "group_ids": [s.named("n"), s.named("h")],
            "include_authorized_operations": True,
        }
        groups = alice.ask("consumer_group_describe", **asked)["groups"]
        return [
            {name: value for name, value in each.items() if name != "members"}
            | {"members": len(each["members"])}
            for each in groups
        ]

    yield "nothing", (beat("a"), described())
    s.give("alice allow read on group:n")
    yield "the group", (beat("a"), described())
    s.give("alice allow describe on topic:a")
    yield "a", (beat("a", "b"), beat("a"))
    yield "described", described()
    s.take("alice allow describe on topic:a")
    yield "described without a", described()


def patterns(s: AclStage) -> Steps:
    """Regular expressions of members match only topics that they may describe."""
    s.needs("consumer_group_heartbeat", 1)
    s.topics("a", "b")
    alice, member, epoch = s.user(), {"group_id": s.named("n"), "member_id": "m" * 22}, 0
    s.give("alice allow read on group:n", "alice allow describe on topic:a")

    def beat(epoch: int, **fields: Any) -> int:
        asked = {**member, "member_epoch": epoch, **fields}
        answer = alice.client.call("consumer_group_heartbeat", 1, asked)
        assert answer["error_code"] == "NONE", answer
        return int(answer["member_epoch"])

    def assigned(count: int) -> Any:
        """Its target assignment, as soon as that has so many topics: assignments are made by heartbeats."""
        nonlocal epoch
        for _ in range(_HEARTBEATS):
            epoch = beat(epoch)
            (group,) = s.ask("consumer_group_describe", {"group_ids": [s.named("n")]})["groups"]
            target = group["members"][0]["target_assignment"]["topic_partitions"]
            if len(target) == count:
                return sorted(each["topic_name"] for each in target)
            s.brokers.sleep(_BETWEEN_S)
        raise TimeoutError(f"the member is not assigned {count} topics")

    subscription: dict[str, Any] = {
        "rebalance_timeout": 60_000,
        "subscribed_topic_names": [],
        "topic_partitions": [],
    }
    epoch = beat(0, **subscription, subscribed_topic_regex=s.named(".*"))
    yield "a", assigned(1)
    s.give("alice allow describe on topic:b")
    epoch = beat(epoch, subscribed_topic_regex=s.named("(a|b)"))
    yield "a and b", assigned(2)


def withdrawn(s: AclStage) -> Steps:
    """ACLs are taken from a member of a group, and in the midst of a transaction."""
    s.topics("a")
    alice = s.user()
    s.give(
        "alice allow read on group:g",
        "alice allow write on transactional_id:t",
        "alice allow write on topic:a",
    )
    member = {"group_id": s.named("g"), "session_timeout": 10_000, "rebalance_timeout": 10_000}
    member |= {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    joined = alice.client.call("join_group", 3, {**member, "member_id": ""})
    here: dict[str, Any] = {
        "group_id": s.named("g"),
        "member_id": joined["member_id"],
        "generation_id": joined["generation_id"],
    }
    yield "synced", alice.ask("sync_group", 2, **here, assignments=[])
    yield "beats", alice.ask("heartbeat", 2, **here)
    producer = alice.client.call(
        "init_producer_id", 1, {"transactional_id": s.named("t"), "transaction_timeout": 5000}
    )
    by = {name: producer[name] for name in ("producer_id", "producer_epoch")}
    old = {
        "v3_and_below_transactional_id": s.named("t"),
        **{f"v3_and_below_{name}": value for name, value in by.items()},
    }
    added: dict[str, Any] = {**old, "v3_and_below_topics": [{"name": s.named("a"), "partitions": [0]}]}
    yield "added", alice.ask("add_partitions_to_txn", 3, **added)
    s.take("alice allow read on group:g", "alice allow write on transactional_id:t")
    yield "beats no more", alice.ask("heartbeat", 2, **here)
    yield "leaves", alice.ask("leave_group", 3, group_id=s.named("g"), members=[{"member_id": "x"}])
    yield "adds", alice.ask("add_partitions_to_txn", 3, **added)
    yield "ends", alice.ask("end_txn", 1, transactional_id=s.named("t"), **by, committed=True)
    s.ask(
        "leave_group", {"group_id": s.named("g"), "members": [{"member_id": joined["member_id"]}]}, version=3
    )
    s.ask("end_txn", {"transactional_id": s.named("t"), **by, "committed": True}, version=1)


STORIES: Final = Told(
    Path(__file__).parent,
    {
        **named(
            acls, matching, by_default, all_topics, creating, altering, deleting, idempotent, unacknowledged
        ),
        **named(in_sessions, as_follower, new_groups, patterns, withdrawn),
        "of_records": _each(requests.RECORDS, "Records and offsets."),
        "of_topics": _each(requests.TOPICS, "Topics."),
        "of_groups": _each(requests.GROUPS, "Groups."),
        "of_transactions": _each(requests.TRANSACTIONS, "Transactions."),
        "of_resources": _each(administration.RESOURCES, "Configurations, users and the cluster."),
    },
    AclStage,
    Setting(1, {**BROKER_CONFIG, **AUTHORIZING}, sasl=True),
    configs={"by_default": {"allow.everyone.if.no.acl.found": "true"}},
)
