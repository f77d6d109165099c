"""What the share coordinator answers, which brokers ask."""

from typing import Any, Final

from mockbroker.rig.stories import Steps

from ..driving.group_stage import UNKNOWN_ID
from .stage import ShareStage

_API: Final = "{}_share_group_state"


def ask(s: ShareStage, verb: str, part: dict[str, Any], name: str = "t", group: str = "g") -> Any:
    topics = [{"topic_id": s.topic_id(name), "partitions": [{"partition": 0, **part}]}]
    api = _API.format(verb) if verb != "summary" else "read_share_group_state_summary"
    return s.say(api, {"group_id": s.named(group) if group else group, "topics": topics})


def batch(first: int, last: int, state: int, count: int = 1) -> dict[str, int]:
    return {"first_offset": first, "last_offset": last, "delivery_state": state, "delivery_count": count}


def keeping(s: ShareStage) -> Steps:
    """State is initialized, read, written and deleted."""
    s.topic()
    here: dict[str, Any] = {"state_epoch": 1, "leader_epoch": 0}
    yield "read, nothing there", ask(s, "read", {"leader_epoch": 0})
    yield "summary, nothing there", ask(s, "summary", {"leader_epoch": 0})
    yield "written, nothing there", ask(s, "write", {**here, "start_offset": 0, "state_batches": []})
    yield "deleted, nothing there", ask(s, "delete", {})
    yield "initialized", ask(s, "initialize", {"state_epoch": 1, "start_offset": 5})
    yield "initialized again", ask(s, "initialize", {"state_epoch": 1, "start_offset": 6})
    yield "initialized, earlier epoch", ask(s, "initialize", {"state_epoch": 0, "start_offset": 7})
    yield "read", ask(s, "read", {"leader_epoch": 0})
    yield "summary", ask(s, "summary", {"leader_epoch": 0})
    batches = [batch(5, 6, 0), batch(7, 9, 2)]
    yield "written", ask(s, "write", {**here, "start_offset": -1, "state_batches": batches})
    yield "read then", ask(s, "read", {"leader_epoch": 0})
    counted = {**here, "delivery_complete_count": 3, "start_offset": 7}
    yield "written with a start", ask(s, "write", {**counted, "state_batches": [batch(8, 8, 4, 2)]})
    yield "read, with a start", ask(s, "read", {"leader_epoch": 0})
    yield "summary then", ask(s, "summary", {"leader_epoch": 0})
    early = {"state_epoch": 0, "leader_epoch": 0, "start_offset": -1, "state_batches": []}
    yield "written, earlier state epoch", ask(s, "write", early)
    yield "written, later state epoch", ask(s, "write", {**early, "state_epoch": 2})
    yield "read, later leader", ask(s, "read", {"leader_epoch": 3})
    yield "read, earlier leader", ask(s, "read", {"leader_epoch": 2})
    yield "written, earlier leader", ask(s, "write", {**early, "state_epoch": 2, "leader_epoch": 2})
    yield "summary, earlier leader", ask(s, "summary", {"leader_epoch": 2})
    yield "initialized anew", ask(s, "initialize", {"state_epoch": 5, "start_offset": 0})
    yield "read anew", ask(s, "read", {"leader_epoch": 3})
    yield "initialized at -1", ask(s, "initialize", {"state_epoch": 6, "start_offset": -1})
    yield "read at -1", ask(s, "read", {"leader_epoch": 3})
    yield "deleted", ask(s, "delete", {})
    yield "read, deleted", ask(s, "read", {"leader_epoch": 3})
    yield "deleted again", ask(s, "delete", {})


def merging(s: ShareStage) -> Steps:
    """How batches that are written replace, split and join those that are there (KAFKA-19954)."""
    s.topic()
    here: dict[str, Any] = {"state_epoch": 1, "leader_epoch": 0, "start_offset": -1}
    cases = {
        "the same": [[batch(0, 9, 0)], [batch(0, 9, 0)]],
        "another state": [[batch(0, 9, 0)], [batch(0, 9, 2)]],
        "a part": [[batch(0, 9, 0)], [batch(3, 5, 2)]],
        "a part, higher count": [[batch(0, 9, 0)], [batch(3, 5, 0, 2)]],
        "a part, lower count": [[batch(0, 9, 0, 3)], [batch(3, 5, 0, 1)]],
        "around": [[batch(3, 5, 0)], [batch(0, 9, 2)]],
        "overlapping": [[batch(0, 5, 0)], [batch(3, 9, 2)]],
        "adjacent, the same": [[batch(0, 4, 2)], [batch(5, 9, 2)]],
        "adjacent, another": [[batch(0, 4, 2)], [batch(5, 9, 0)]],
        "apart": [[batch(0, 2, 2)], [batch(6, 9, 2)]],
        "accepted, then available": [[batch(0, 9, 2)], [batch(0, 9, 0)]],
        "archived, then accepted": [[batch(0, 9, 4)], [batch(0, 9, 2)]],
        "acquired": [[batch(0, 9, 1)]],
        "unknown state": [[batch(0, 9, 9)]],
        "backwards": [[batch(9, 0, 2)]],
        "overlapping at once": [[batch(0, 5, 0), batch(3, 9, 2)]],
    }
    for number, (label, writes) in enumerate(cases.items()):
        group = f"g{number}"
        ask(s, "initialize", {"state_epoch": 1, "start_offset": 0}, group=group)
        answers = [ask(s, "write", {**here, "state_batches": each}, group=group) for each in writes]
        codes = [each["results"][0]["partitions"][0]["error_code"] for each in answers]
        yield label, (codes, s.state(group))


def many_batches(s: ShareStage) -> Steps:
    """Far more batches are written than a group has in flight: apart, between those that are there, over each
    other, and beside each other, where they become one."""
    s.topic()
    here: dict[str, Any] = {"state_epoch": 1, "leader_epoch": 0, "start_offset": -1}
    ask(s, "initialize", {"state_epoch": 1, "start_offset": 0})
    many = range(10_000)
    cases = {
        "apart": [batch(4 * each, 4 * each, 0) for each in many],
        "between these": [batch(4 * each + 2, 4 * each + 2, 0) for each in many],
        "one more": [batch(81, 81, 0), batch(19_999, 20_001, 2)],
        "backwards, over each other": [batch(each, 15_000 - each, 2, 1 + each % 7) for each in many],
        "beside each other": [batch(each, each, 4, 9) for each in reversed(many)],
        "from 25,000 on": [],
    }
    for label, batches in cases.items():
        start = 25_001 if not batches else -1
        told = ask(s, "write", {**here, "start_offset": start, "state_batches": batches})
        yield label, told
        at, found = s.state()
        yield f"state, {label}", (at, len(found), found[:5], found[5_000:5_004], found[-5:])


def wrong_requests(s: ShareStage) -> Steps:
    """Requests that no broker sends."""
    s.topic()
    writes = {"state_epoch": 1, "leader_epoch": 0, "start_offset": 0, "state_batches": []}
    parts: dict[str, dict[str, Any]] = {
        "initialize": {"state_epoch": 1, "start_offset": 0},
        "read": {"leader_epoch": 0},
        "write": writes,
        "summary": {"leader_epoch": 0},
        "delete": {},
    }
    for verb, part in parts.items():
        yield f"{verb}: no group", ask(s, verb, part, group="")
        yield f"{verb}: unknown topic", ask(s, verb, part, name="nothing")
        yield f"{verb}: unknown partition", ask(s, verb, {**part, "partition": 7})
        yield f"{verb}: negative partition", ask(s, verb, {**part, "partition": -1})
        api = _API.format(verb) if verb != "summary" else "read_share_group_state_summary"
        yield f"{verb}: nothing", s.say(api, {"group_id": s.named("g"), "topics": []})
        topics = [{"topic_id": s.topic_id(), "partitions": []}]
        yield f"{verb}: no partitions", s.say(api, {"group_id": s.named("g"), "topics": topics})


def of_a_new_group(s: ShareStage) -> Steps:
    """What is known of a group that has read nothing."""
    s.topic()
    s.member().join("t")
    yield "read", ask(s, "read", {"leader_epoch": 0})
    yield "summary", ask(s, "summary", {"leader_epoch": 0})
    yield "offsets", s.offsets()


def negative_epochs(s: ShareStage) -> Steps:
    """Epochs of -1, before and after a state was initialized."""
    s.topic()
    writes = {"start_offset": 0, "state_batches": [batch(0, 1, 2)]}
    for label, verb, part in (
        ("read before", "read", {"leader_epoch": -1}),
        ("write before", "write", {"state_epoch": -1, "leader_epoch": -1, **writes}),
        ("initialize", "initialize", {"state_epoch": -1, "start_offset": 0}),
        ("initialize as it should be", "initialize", {"state_epoch": 0, "start_offset": 0}),
        ("read", "read", {"leader_epoch": -1}),
        ("write, both", "write", {"state_epoch": -1, "leader_epoch": -1, **writes}),
        ("write, state epoch", "write", {"state_epoch": -1, "leader_epoch": 0, **writes}),
        ("write, leader epoch", "write", {"state_epoch": 0, "leader_epoch": -1, **writes}),
        ("summary", "summary", {"leader_epoch": -1}),
        ("state -2", "initialize", {"state_epoch": -2, "start_offset": 0}),
        ("state then", "read", {"leader_epoch": 0}),
    ):
        yield label, ask(s, verb, part)


def finding(s: ShareStage) -> Steps:
    """FindCoordinator of share partitions."""
    s.topic()
    topic_id = s.topic_id()
    key = f"{s.named('g')}:{s.shown_id(topic_id)}:0"
    for label, each in (
        ("right", key),
        ("unknown topic", f"g:{s.shown_id(UNKNOWN_ID)}:0"),
        ("unknown partition", f"g:{s.shown_id(topic_id)}:99"),
        ("group with colons", f"a:b:{s.shown_id(topic_id)}:0"),
        ("no group", f":{s.shown_id(topic_id)}:0"),
        ("no partition", f"g:{s.shown_id(topic_id)}"),
        ("empty partition", f"g:{s.shown_id(topic_id)}:"),
        ("partition as text", f"g:{s.shown_id(topic_id)}:x"),
        ("negative partition", f"g:{s.shown_id(topic_id)}:-1"),
        ("no id", "g:not an id:0"),
        ("two colons", "::"),
        ("empty", ""),
        ("a group", "g"),
    ):
        asked = {"key_type": 2, "coordinator_keys": [each]}
        yield label, s.say("find_coordinator", asked, 6)["coordinators"]
    yield "v5", s.say("find_coordinator", {"key_type": 2, "coordinator_keys": [key]}, 5)
    yield "v3", s.say("find_coordinator", {"key_type": 2, "key": key}, 3)
    several = {"key_type": 2, "coordinator_keys": [key, "wrong", key]}
    yield "several", s.say("find_coordinator", several, 6)["coordinators"]


def advertised(s: ShareStage) -> Steps:
    """Versions, features and configurations that have to do with share groups."""
    versions = s.client().api_versions()
    yield "versions", {name: list(each) for name, each in versions.items() if "share" in name}
    asked = {"client_software_name": "c", "client_software_version": "1"}
    answer = s.ask("api_versions", asked, version=4)
    for kind in ("supported_features", "finalized_features"):
        yield kind, [each for each in answer[kind] if each["name"] == "share.version"]
    resources = [
        {"resource_type": 32, "resource_name": s.named("g"), "configuration_keys": None},
        {"resource_type": 4, "resource_name": "1", "configuration_keys": None},
    ]
    about = {"include_synonyms": True, "include_documentation": False}
    found = s.say("describe_configs", {"resources": resources, **about}, 4)["results"]
    for result in found:
        kept = [each for each in result["configs"] if "share" in each["name"] or "deadletter" in each["name"]]
        yield f"configurations of type {result['resource_type']}", kept
    for name, value in (
        ("share_record_lock_duration_ms", "999"),
        ("share_record_lock_duration_ms", "60001"),
        ("share_record_lock_duration_ms", "x"),
        ("share_session_timeout_ms", "1"),
        ("share_heartbeat_interval_ms", "1"),
        ("share_auto_offset_reset", "never"),
        ("share_auto_offset_reset", "by_duration:x"),
        ("share_isolation_level", "serializable"),
        ("share_delivery_count_limit", "1"),
        ("share_partition_max_record_locks", "1"),
        ("share_renew_acknowledge_enable", "x"),
        ("share_nothing", "1"),
    ):
        yield f"{name} {value}", s.configure("g", **{name: value})
