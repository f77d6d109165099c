"""ACLs themselves, and which of them count."""

from typing import Any

from mockbroker.rig.stories import Steps

from .requests import two
from .stage import AclStage, anything


def acls(s: AclStage) -> Steps:
    """CreateAcls, DescribeAcls and DeleteAcls."""
    good = {
        "resource_type": 2,
        "resource_name": s.named("t"),
        "resource_pattern_type": 3,
        "principal": "User:bob",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }

    def create(*changes: dict[str, Any]) -> Any:
        return s.plain(s.ask("create_acls", {"creations": [{**good, **each} for each in changes]}))

    mine = {"resource_name_filter": s.named("t"), "pattern_type_filter": 2}
    for name, values in (
        ("resource_type", (1, 3, 4, 5, 6, 7, 8, 99)),
        ("resource_name", ("", "*")),
        ("resource_pattern_type", (1, 2, 4, 5)),
        ("principal", ("", "bob", ":", "User:", "Group:g", "User:*")),
        ("host", ("", "10.0.0.7", "localhost")),
        ("operation", (1, 2, 8, 9, 12, 15, 16)),
        ("permission_type", (1, 2, 4)),
    ):
        for value in values:
            yield f"create {name} {value}", create({name: value})
    yield "create again", create({}, {}, {"host": "10.0.0.7"})
    yield "create a bad one among good ones", create({}, {"resource_type": 1}, {"operation": 4})
    yield "create another bad one", create({}, {"principal": "bob"}, {"operation": 4})
    yield "create cluster", create({"resource_type": 4, "resource_name": "kafka-cluster", "operation": 8})

    def described(**chosen: Any) -> Any:
        answer = s.ask("describe_acls", anything(**{**mine, **chosen}))
        for each in answer["resources"]:
            each["acls"].sort(key=str)
        answer["resources"].sort(key=str)
        return s.plain(answer)

    yield "describe", described()
    for chosen in (
        {"resource_type_filter": 2},
        {"resource_type_filter": 3},
        {"resource_type_filter": 8},
        {"pattern_type_filter": 3},
        {"pattern_type_filter": 4},
        {"pattern_type_filter": 1},
        {"pattern_type_filter": 5},
        {"resource_name_filter": s.named("tall")},
        {"resource_name_filter": s.named("tall"), "pattern_type_filter": 4},
        {"resource_name_filter": "*", "pattern_type_filter": 3},
        {"resource_name_filter": ""},
        {"principal_filter": "User:bob"},
        {"principal_filter": "bob"},
        {"principal_filter": "User:*"},
        {"principal_filter": ""},
        {"host_filter": "10.0.0.7"},
        {"host_filter": "*"},
        {"operation": 3},
        {"operation": 2},
        {"operation": 99},
        {"permission_type": 2},
        {"permission_type": 9},
    ):
        yield f"describe {chosen}".replace(s.named(""), ""), described(**chosen)

    def delete(*chosen: dict[str, Any]) -> Any:
        answer = s.ask("delete_acls", {"filters": [anything(**{**mine, **each}) for each in chosen]})
        for each in answer["filter_results"]:
            each["matching_acls"].sort(key=str)
        return s.plain(answer)

    yield "delete nothing", delete({"principal_filter": "User:nobody"})
    yield "delete with odd filters", delete({"resource_type_filter": 99}, {"operation": 99})
    yield "delete the same twice", delete({"operation": 4}, {"operation": 4}, {"permission_type": 2})
    yield "deleted", described(operation=4)
    yield "delete all", delete({"pattern_type_filter": 1}, {})
    yield "delete the rest", delete({"resource_name_filter": "*", "principal_filter": "User:bob"})
    s.ask("delete_acls", {"filters": [anything(resource_type_filter=4, principal_filter="User:bob")]})


def matching(s: AclStage) -> Steps:
    """Which ACLs count."""
    s.topics("a")
    alice = s.user()

    def may() -> Any:
        asked: dict[str, Any] = {
            "topics": [{"name": s.named("a")}],
            "include_topic_authorized_operations": True,
        }
        (topic,) = alice.ask("metadata", 9, **asked)["topics"]
        return topic["error_code"], topic["topic_authorized_operations"]

    for label, given in (
        ("nothing", ()),
        ("describe", ("alice allow describe on topic:a",)),
        ("all", ("alice allow all on topic:a",)),
        ("read", ("alice allow read on topic:a",)),
        ("delete", ("alice allow delete on topic:a",)),
        ("alter", ("alice allow alter on topic:a",)),
        ("create", ("alice allow create on topic:a",)),
        ("describe_configs", ("alice allow describe_configs on topic:a",)),
        ("alter_configs", ("alice allow alter_configs on topic:a",)),
        ("a prefix", ("alice allow read on topic:a*",)),
        ("another prefix", ("alice allow read on topic:b*",)),
        ("everybody", ("User:* allow read on topic:a",)),
        ("another user", ("bob allow read on topic:a",)),
        ("another type", ("Group:alice allow read on topic:a",)),
        ("this host", ("alice allow read on topic:a from 127.0.0.1",)),
        ("another host", ("alice allow read on topic:a from 10.0.0.7",)),
        ("denied", ("alice allow all on topic:a", "alice deny write on topic:a")),
        ("describe is denied", ("alice allow all on topic:a", "alice deny describe on topic:a")),
        ("all is denied", ("alice allow read on topic:a", "alice deny all on topic:a*")),
        ("read is denied", ("alice allow write on topic:a", "alice deny read on topic:a")),
        ("denied to everybody", ("alice allow read on topic:a", "User:* deny read on topic:a")),
        ("denied elsewhere", ("alice allow read on topic:a", "alice deny read on topic:a from 10.0.0.7")),
        ("for other groups", ("alice allow read on group:a",)),
    ):
        s.give(*given)
        yield label, may()
        s.take()
    s.give("alice allow read on topic:*")
    yield "every topic", may()
    s.give("alice deny read on topic:a")
    yield "but one", may()


def by_default(s: AclStage) -> Steps:
    """`allow.everyone.if.no.acl.found`."""
    s.topics("a", "b")
    alice = s.user()
    asked: dict[str, Any] = {"topics": two(s), "include_topic_authorized_operations": True}
    yield "no ACLs", alice.ask("metadata", 9, **asked)["topics"]
    s.give("bob allow read on topic:a")
    yield "one of another user", alice.ask("metadata", 9, **asked)["topics"]
    yield "an idempotent producer", alice.ask("init_producer_id", 1, transactional_id=None)["error_code"]
