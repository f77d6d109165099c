"""ACLs as people write them."""

import pytest

from mockbroker import OptionError, Security
from mockbroker.acls import Acl, Operation, PatternType, Permission, ResourceType
from mockbroker.acls.text import read

LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


def test_each_operation_is_an_acl() -> None:
    allowed = "User:alice", "*", Operation.READ, Permission.ALLOW
    orders = Acl(ResourceType.TOPIC, "orders", LITERAL, *allowed)
    assert read("alice allow read,write on topic:orders") == [
        orders,
        orders._replace(operation=Operation.WRITE),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "User:* deny all on topic:pay-* from 10.0.0.7",
            (
                ResourceType.TOPIC,
                "pay-",
                PatternType.PREFIXED,
                "User:*",
                "10.0.0.7",
                Operation.ALL,
                Permission.DENY,
            ),
        ),
        (
            "CN=a b ALLOW Describe ON Cluster",
            (
                ResourceType.CLUSTER,
                "kafka-cluster",
                PatternType.LITERAL,
                "User:CN=a b",
                "*",
                Operation.DESCRIBE,
                Permission.ALLOW,
            ),
        ),
        (
            "bob allow write on transactional-id:*",
            (
                ResourceType.TRANSACTIONAL_ID,
                "*",
                PatternType.LITERAL,
                "User:bob",
                "*",
                Operation.WRITE,
                Permission.ALLOW,
            ),
        ),
    ],
)
def test_whatever_can_be_said(text: str, expected: tuple[object, ...]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("alice read topic:orders", "is no ACL: write WHO allow|deny OPERATION"),
        ("allow read on topic:orders", "is no ACL"),
        ("alice allow read on topic:orders from", "is no ACL"),
        ("alice allow reed on topic:orders", "no operation 'reed': did you mean 'read'?"),
        ("alice allow idempotent_write on topic:orders", "no operation 'idempotent_write'"),
        ("alice allow read on topics:orders", "no resource type 'topics': did you mean 'topic'?"),
        ("alice allow read on topic", "does not say which topic"),
        ("alice allow alter on cluster:mine", "the cluster has no other name"),
        ("", "is no ACL"),
    ],
)
def test_an_error_says_what_to_write(text: str, why: str) -> None:
    with pytest.raises(OptionError) as caught:
        Security(acls=[text])
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "given", [{"acls": "alice allow read on topic:t"}, {"super_users": "admin"}, {"acls": [1]}]
)
def test_they_are_lists_of_texts(given: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="give a list of texts"):
        Security.of(given)
