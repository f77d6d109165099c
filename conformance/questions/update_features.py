"""UpdateFeatures: KIP-584, types of upgrades and validation by KIP-778, all or nothing by KIP-1022."""

from typing import Any, Final

from ...rig.consumer_scene import ConsumerMember
from ...rig.transaction_scene import TIMEOUT_MS, TransactionalProducer
from ..registry import Scene, Steps, question

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3


def _to(feature: str, level: int, how: int = UPGRADE) -> dict[str, Any]:
    return {
        "feature": feature,
        "max_version_level": level,
        "upgrade_type": how,
        "allow_downgrade": how != UPGRADE,
    }


def _update(s: Scene, *updates: dict[str, Any], **more: Any) -> Any:
    return s.ask(feature_updates=list(updates), **more)


def _versions(s: Scene) -> Any:
    fields = {"client_software_name": "mockbroker", "client_software_version": "1"}
    return s.call("api_versions", fields, version=4 if 4 in s.target.supported("api_versions") else 3)


def _levels(s: Scene) -> dict[str, int]:
    return {each["name"]: each["max_version_level"] for each in _versions(s)["finalized_features"]}


def _level(s: Scene, feature: str) -> int:
    return _levels(s).get(feature, 0)


def _newest(s: Scene, feature: str) -> int:
    """The newest level that is supported."""
    found = [each["max_version"] for each in _versions(s)["supported_features"] if each["name"] == feature]
    return int(found[0]) if found else 0


def _settled(s: Scene, feature: str, level: int) -> int:
    """The level, once ApiVersions says that it is this one."""
    s.until(lambda: _level(s, feature) == level, f"{feature} to be {level}")
    return level


def _refused(answer: Any) -> bool:
    codes = [answer["error_code"], *(each["error_code"] for each in answer.get("results", ()))]
    return any(code != "NONE" for code in codes)


def _change(s: Scene, feature: str, level: int, how: int = UPGRADE) -> Steps:
    """The answer, and which level ApiVersions gives then; it leaves a feature out whose level is 0."""
    answer = _update(s, _to(feature, level, how))
    yield f"{feature} {level} {how}", answer
    if _refused(answer) or feature not in {each["name"] for each in _versions(s)["supported_features"]}:
        yield "level then", _level(s, feature)
    else:
        yield "level then", _settled(s, feature, level)


def nothing(s: Scene) -> Steps:
    before = _versions(s)["finalized_features_epoch"]
    yield "no updates", _update(s)
    yield "the epoch does not go back", _versions(s)["finalized_features_epoch"] >= before


def unknown_features(s: Scene) -> Steps:
    for name in ("unknown.version", "", "Group.version"):
        for level in (0, 1, -1):
            yield f"{name!r} {level}", _update(s, _to(name, level))
    yield "safe downgrade", _update(s, _to("unknown.version", 0, SAFE_DOWNGRADE))
    yield "safe downgrade to a newer one", _update(s, _to("unknown.version", 1, SAFE_DOWNGRADE))


def levels(s: Scene) -> Steps:
    """None of these changes anything."""
    for feature in ("metadata.version", "group.version", "transaction.version"):
        level, newest = _level(s, feature), _newest(s, feature)
        asked = {
            "the same": level,
            "the one after the newest": newest + 1,
            "the greatest": 2**15 - 1,
            "-1": -1,
            "the least": -(2**15),
            "the one before": level - 1,
            "0": 0,
        }
        for label, wanted in asked.items():
            yield f"{feature}, {label}", _update(s, _to(feature, wanted))
        yield f"{feature} then", _level(s, feature) == level


@question(newest_only=True)
def metadata_versions(s: Scene) -> Steps:
    """A downgrade is refused if a version in between added something to the metadata."""
    level = _level(s, "metadata.version")
    for how in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        for wanted in range(level + 1) if how == SAFE_DOWNGRADE else (1, 7, level - 1, level):
            answer = _update(s, _to("metadata.version", wanted, how), validate_only=True)
            yield f"{how}, {wanted}", answer


@question(newest_only=True)
def metadata_version_and_back(s: Scene) -> Steps:
    level = _level(s, "metadata.version")
    for wanted in (level - 1, level - 2):
        yield from _change(s, "metadata.version", wanted, SAFE_DOWNGRADE)
        yield from _change(s, "metadata.version", level)


@question(since=1)
def upgrade_types(s: Scene) -> Steps:
    for feature in ("metadata.version", "group.version", "unknown.version"):
        level = _level(s, feature)
        for how in (0, 1, 2, 3, 4, -1, 127):
            for wanted in dict.fromkeys((level, max(level - 1, 0), level + 1)):
                answer = _update(s, _to(feature, wanted, how), validate_only=True)
                yield f"{feature}, {how}, {wanted - level} from {level}", answer


@question(until=0)
def downgrades_in_v0(s: Scene) -> Steps:
    """Nobody looks at `allow_downgrade`."""
    for feature in ("group.version", "transaction.version", "metadata.version"):
        yield from _change(s, feature, max(_level(s, feature) - 1, 0), SAFE_DOWNGRADE)


@question(since=1)
def downgrade_and_back(s: Scene) -> Steps:
    for feature in ("group.version", "transaction.version", "eligible.leader.replicas.version"):
        level = _level(s, feature)
        for how in (UPGRADE, SAFE_DOWNGRADE):
            for wanted in range(level - 1, -1, -1):
                yield from _change(s, feature, wanted, how)
        yield from _change(s, feature, 0, UNSAFE_DOWNGRADE)
        yield from _change(s, feature, 1, UNSAFE_DOWNGRADE)
        for wanted in range(1, level + 1):
            yield from _change(s, feature, wanted)


@question(since=1)
def validate_only(s: Scene) -> Steps:
    level = _level(s, "group.version")
    yield "down", _update(s, _to("group.version", 0, SAFE_DOWNGRADE), validate_only=True)
    yield "refused", _update(s, _to("group.version", 99), validate_only=True)
    yield "unknown", _update(s, _to("unknown.version", 1), validate_only=True)
    yield "nothing", _update(s, validate_only=True)
    yield "level then", _level(s, "group.version") == level


def several(s: Scene) -> Steps:
    """Up to 3.9 each succeeds or fails by itself, since 4.0 all or none."""
    group = _level(s, "group.version")
    good, bad = _to("metadata.version", _level(s, "metadata.version")), _to("group.version", 99)
    yield "both good", _update(s, good, _to("group.version", group))
    yield "one bad", _update(s, good, bad)
    yield "one bad, first", _update(s, bad, good)
    yield "both bad", _update(s, bad, _to("metadata.version", 99))
    yield "both unknown", _update(s, _to("b.version", 1), _to("a.version", 1))
    yield "another order", _update(s, _to("a.version", 1), _to("b.version", 1))
    yield "five unknown", _update(s, *(_to(f"{name}.version", 1) for name in ("z", "y", "feature", "x", "c")))
    yield "bad besides a downgrade", _update(s, _to("group.version", 0, SAFE_DOWNGRADE), _to("a.version", 1))
    yield "level then", _level(s, "group.version") == group


def twice(s: Scene) -> Steps:
    """The last of two updates of one feature is valid."""
    level = _level(s, "metadata.version")
    good, bad = _to("metadata.version", level), _to("metadata.version", 99)
    for label, asked in {"good, bad": (good, bad), "bad, good": (bad, good), "good": (good, good)}.items():
        yield label, _update(s, *asked)
    yield "level then", _settled(s, "metadata.version", level)


def timeouts(s: Scene) -> Steps:
    good = _to("metadata.version", _level(s, "metadata.version"))
    for timeout in (0, -1, 2**31 - 1):
        yield f"{timeout}", _update(s, good, timeout=timeout)


@question(since=1)
def kraft_versions(s: Scene) -> Steps:
    """Only validated: 4.x does not go back from 1 to 0."""
    for level in (0, 1, 2, -1):
        for how in (UPGRADE, SAFE_DOWNGRADE):
            answer = _update(s, _to("kraft.version", level, how), validate_only=True)
            yield f"{level} {how}", answer
    yield "level then", _level(s, "kraft.version")


def the_epoch(s: Scene) -> Steps:
    """It rises even if the level stays the same."""
    level = _level(s, "metadata.version")
    before = _versions(s)["finalized_features_epoch"]
    yield "the same level", _update(s, _to("metadata.version", level))

    def risen() -> bool:
        return bool(_versions(s)["finalized_features_epoch"] > before)

    yield "has risen", s.until(risen, "another epoch")


@question(since=1)
def consumer_groups_without_their_feature(s: Scene) -> Steps:
    """`group.version` 0 turns the protocol of KIP-848 off."""
    level = _level(s, "group.version")
    member = ConsumerMember(s, s.name("g"), [s.topic()])
    yield "joins", _outcome(member.join())
    yield from _change(s, "group.version", 0, SAFE_DOWNGRADE)
    yield "heartbeat", _outcome(member.heartbeat())
    described = s.call("consumer_group_describe", {"group_ids": [member.group]})
    yield "described", [[each["error_code"], each["error_message"]] for each in described["groups"]]
    listed = s.call("list_groups", {"states_filter": [], "types_filter": []})
    yield "listed", [each for each in listed["groups"] if each["group_id"] == member.group]
    part = {"partition_index": 0, "committed_offset": 1, "committed_leader_epoch": -1}
    commit = {
        "group_id": member.group,
        "generation_id_or_member_epoch": member.epoch,
        "member_id": member.id,
        "topics": [{**s.topic_ref(member.topics[0]), "partitions": [part]}],
    }
    committed = s.call("offset_commit", commit)
    yield "commits", committed["topics"][0]["partitions"][0]["error_code"]
    yield from _change(s, "group.version", level)
    yield "heartbeat again", _outcome(member.heartbeat())
    yield "leaves", _outcome(member.leave())


@question(since=1)
def transactions_without_their_feature(s: Scene) -> Steps:
    """With `transaction.version` 1 EndTxn v5 bumps the epoch nevertheless."""
    level = _level(s, "transaction.version")
    topic = s.topic()
    for wanted in range(level - 1, -1, -1):
        yield from _change(s, "transaction.version", wanted, SAFE_DOWNGRADE)
        producer = TransactionalProducer(s, f"tx{wanted}")
        producer.begin(topic)
        yield "commit with v4", _end(s, producer, 4)
        yield "another instance", _started(producer)
        producer.begin(topic)
        yield "another instance while one is open", _started(producer)
        producer.begin(topic)
        yield "commit with v5", _end(s, producer, 5)
        fields = {"transactional_id": producer.name, "transaction_timeout": TIMEOUT_MS}
        again = s.call("init_producer_id", {**fields, "producer_id": -1, "producer_epoch": -1})
        yield "another instance then", again["error_code"]
    yield from _change(s, "transaction.version", level)


def _outcome(answer: Any) -> list[Any]:
    return [answer["error_code"], answer["member_epoch"]]


def _end(s: Scene, producer: TransactionalProducer, version: int) -> Any:
    answer = s.call("end_txn", {**producer.ids, "committed": True}, version=version)
    producer.settle()
    return [answer["error_code"], answer.get("producer_epoch")]


def _started(producer: TransactionalProducer) -> int:
    producer.start()
    return producer.epoch


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    """Any broker forwards the request to the controller."""
    level = _level(s, "metadata.version")
    for rank in range(3):
        client = s.new_client(broker=rank)
        for label, asked in {
            "the same": [_to("metadata.version", level)],
            "newer": [_to("metadata.version", level + 1)],
            "unknown": [_to("unknown.version", 1)],
        }.items():
            yield f"broker {rank}, {label}", s.ask(feature_updates=asked, client=client)
