"""The table decides as the rules say, however it finds the ACLs."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.acls import Acl, AclTable, Filter, Operation, PatternType, Permission, ResourceType
from mockbroker.acls.acl import OPERATIONS
from mockbroker.acls.text import read

from ..properties import examples

NAMES = st.sampled_from(("a", "ab", "abc", "b", "*"))
HOSTS = st.sampled_from(("*", "10.0.0.1", "10.0.0.2"))
PRINCIPALS = st.sampled_from(("User:alice", "User:bob", "User:*"))
TYPES = st.sampled_from((ResourceType.TOPIC, ResourceType.GROUP))
ACLS = st.builds(
    Acl,
    TYPES,
    NAMES,
    st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
    PRINCIPALS,
    HOSTS,
    st.sampled_from((Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL)),
    st.sampled_from((Permission.ALLOW, Permission.DENY)),
)
IMPLIED = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)


def concerns(acl: Acl, kind: ResourceType, name: str) -> bool:
    if acl.resource_type is not kind:
        return False
    if acl.pattern_type is PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name in ("*", name)


def decided(acls: Iterable[Acl], asked: tuple[str, str, Operation, ResourceType, str]) -> Permission | None:
    """One ACL after the other, as KIP-11 and KIP-290 say it."""
    principal, host, operation, kind, name = asked
    of_resource = [each for each in acls if concerns(each, kind, name)]
    mine = [
        each for each in of_resource if each.principal in (principal, "User:*") and each.host in (host, "*")
    ]
    for each in mine:
        if each.permission is Permission.DENY and each.operation in (operation, Operation.ALL):
            return Permission.DENY
    for each in mine:
        implies = operation is Operation.DESCRIBE and each.operation in IMPLIED
        if each.permission is Permission.ALLOW and (implies or each.operation in (operation, Operation.ALL)):
            return Permission.ALLOW
    return Permission.DENY if of_resource else None


@settings(max_examples=examples(300))
@given(
    st.lists(ACLS, max_size=8, unique=True),
    st.lists(ACLS, max_size=4, unique=True),
    st.sampled_from(("User:alice", "User:bob")),
    st.sampled_from(("10.0.0.1", "10.0.0.2")),
    st.sampled_from((Operation.READ, Operation.DESCRIBE, Operation.CREATE)),
    TYPES,
    st.sampled_from(("a", "ab", "abcd", "b", "c")),
)
def test_it_decides_as_a_walk_over_all_acls(
    acls: list[Acl],
    removed: list[Acl],
    principal: str,
    host: str,
    operation: Operation,
    kind: ResourceType,
    name: str,
) -> None:
    asked = (principal, host, operation, kind, name)
    table = AclTable()
    for each in {*acls, *removed}:
        table.add(each)
    before = table.copy()
    for each in removed:
        table.remove(each)
    left = [each for each in acls if each not in removed]
    assert table.decides(*asked) is decided(left, asked)
    assert before.decides(*asked) is decided({*acls, *removed}, asked)
    assert sorted(table) == sorted(left)
    if table.decides(*asked) is Permission.ALLOW and operation is Operation.READ:
        assert table.allows_some(principal, host, operation, kind)


@given(st.lists(ACLS, max_size=8, unique=True), TYPES, st.sampled_from(("a", "abc", "c")))
def test_a_pattern_that_matches_finds_the_acls_of_a_resource(
    acls: list[Acl], kind: ResourceType, name: str
) -> None:
    asked = Filter(kind, name, PatternType.MATCH)
    assert [each for each in acls if asked.matches(each)] == [
        each for each in acls if concerns(each, kind, name)
    ]


@given(
    st.sampled_from(list(OPERATIONS)),
    st.sampled_from(("orders", "pay.*", "*")),
    st.sampled_from(("User:alice", "Group:ops", "User:CN=a,OU=allowed")),
    HOSTS,
    st.sampled_from(Permission),
    st.data(),
)
def test_an_acl_is_read_as_it_is_shown(
    kind: ResourceType, name: str, principal: str, host: str, permission: Permission, data: st.DataObject
) -> None:
    operation = data.draw(st.sampled_from(OPERATIONS[kind]))
    prefixed = name.endswith("*") and name != "*"
    pattern = PatternType.PREFIXED if prefixed else PatternType.LITERAL
    if kind is ResourceType.CLUSTER:
        name, pattern = "kafka-cluster", PatternType.LITERAL
    shown = name.removesuffix("*") if prefixed else name
    if permission not in (Permission.ALLOW, Permission.DENY):
        return
    acl = Acl(kind, shown, pattern, principal, host, operation, permission)
    assert read(str(acl)) == [acl]
