"""A verb that says why it would change nothing is right, and so is one that says nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.replicas import describe
from mockbroker.errors import ConflictError, NotThereError, OptionError
from mockbroker.replication.states import FollowerState
from mockbroker.security import AUTHORIZER
from mockbroker.verbs.followers import fail_follower, pause_follower, resume_follower, slow_follower
from mockbroker.verbs.leaders import move_leader
from mockbroker.verbs.subjects import FOLLOWER, PARTITION
from mockbroker.verbs.table import VERBS
from mockbroker.verbs.verb import Verb

from ..driving.cluster import a_cluster, create
from ..properties import examples

BROKERS = st.integers(1, 3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "broker": BROKERS,
    "listener": st.just("PLAINTEXT"),
    "topic": st.just("t"),
    "partition": st.integers(0, 1),
    "group": st.just("g"),
    "member": st.just("m"),
    "producer_id": st.none() | st.just(1),
    "transactional_id": st.just("x"),
    "to": st.none() | BROKERS,
    "from_": st.none() | st.lists(BROKERS | st.just("controller"), min_size=1, max_size=3),
    "delay_ms": st.sampled_from((0, 200)),
    "user": st.sampled_from(("alice", "bob")),
    "password": st.sampled_from(("secret", "changed")),
    "acl": st.sampled_from(("bob allow read,write on topic:t", "bob allow write on topic:t")),
}
"""Of each name that verbs take. A verb that takes another one has to say here what may be given."""
Step = tuple[Verb[Any, ...], int, dict[str, Any], int]


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """A verb, which of its subjects, its arguments, and the ms that go by before."""
    verb = draw(st.sampled_from(list(VERBS.values())))
    subject = draw(st.integers(0, len(verb.subjects) - 1))
    taken = [*verb.subjects[subject].keys, *(each.keyword for each in verb.parameters.values())]
    return (
        verb,
        subject,
        {name: draw(VALUES[name]) for name in taken},
        draw(st.sampled_from((0, 0, 50, 60_000))),
    )


def seen(cluster: Cluster) -> list[Any]:
    """All that a verb may change."""
    found: list[Any] = [set(cluster.controller.image.acls), dict(cluster.passwords)]
    found += [
        (
            each.id,
            each.liveness,
            each.fenced,
            each.hears_controller,
            set(each.unreachable),
            each.metadata_delay_ms,
            each.endpoint.open,
        )
        for each in cluster.brokers.values()
    ]
    for partition in cluster.partitions():
        delays = {
            broker: each.delay_ms
            for broker, each in partition.followers.items()
            if each.state in (FollowerState.SLOW, FollowerState.EXTERNAL)
        }
        found.append((partition.leader, partition.leader_epoch, list(partition.isr), delays))
        # How far one is that fetches is its own affair.
        found.extend(
            each._replace(state="fetches") if each.state in ("in step", "behind") else each
            for each in describe(partition)
        )
    return found


def a_driven_cluster() -> Cluster:
    cluster = a_cluster(
        offsets_topic_num_partitions=1,
        transaction_state_log_num_partitions=1,
        authorizer_class_name=AUTHORIZER,
        sasl_enabled_mechanisms="PLAIN,SCRAM-SHA-256",
    )
    create(cluster, "t", 2, 3)
    cluster.offsets_partition("g")
    cluster.transaction_partition("x")
    return cluster


def test_a_verb_changes_something_unless_it_says_why_not() -> None:
    outcomes: set[bool] = set()

    @settings(deadline=None, max_examples=examples(200))
    @given(st.lists(steps(), min_size=1, max_size=12))
    @example(
        [
            (VERBS["slow-metadata"], 0, {"broker": 2, "delay_ms": 200}, 0),
            (VERBS["stop-broker"], 0, {"broker": 1}, 0),
            (VERBS["rejoin-broker"], 0, {"broker": 2}, 0),
        ]
    )
    def check(history: list[Step]) -> None:
        cluster = a_driven_cluster()
        for verb, index, values, ms in history:
            cluster.advance(cluster.now_ms + ms)
            keys = verb.subjects[index].keys
            try:
                subject = verb.subjects[index].find(cluster, **{name: values[name] for name in keys})
            except NotThereError:
                continue
            arguments = {name: value for name, value in values.items() if name not in keys}
            before = seen(cluster)
            why = verb.nothing_to_do(cluster, subject, **arguments)
            outcomes.add(not why)
            if not why:
                verb(cluster, subject, **arguments)
                assert seen(cluster) != before, f"{verb.name} {values} did nothing, and said nothing"
                continue
            with pytest.raises(ConflictError):
                verb(cluster, subject, **arguments)
            assert not verb.attempt(cluster, subject, **arguments)
            if verb not in (fail_follower, resume_follower):
                # These would leave traces where they do nothing that anybody could have wanted.
                verb.do(cluster, subject, **arguments)
            assert seen(cluster) == before, f"{verb.name} {values} was refused: {why}"

    check()
    assert outcomes == {True, False}


def following(cluster: Cluster, broker: int = 3) -> Any:
    return FOLLOWER.find(cluster, "t", 0, broker)


def down(cluster: Cluster) -> None:
    VERBS["stop-broker"](cluster, cluster.brokers[3])


def cut_off(cluster: Cluster) -> None:
    VERBS["cut-off-broker"](cluster, cluster.brokers[3], from_=[1])


def dead(cluster: Cluster) -> None:
    fail_follower(cluster, following(cluster))


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (down, "broker 3, a follower of t-0, is down: start it first"),
        (cut_off, "can't reach the leader, .*let it rejoin first"),
        (dead, r"died \(failed by the test\): it stays dead until the next leader epoch"),
    ],
)
@pytest.mark.parametrize(
    ("verb", "given"), [(pause_follower, {}), (slow_follower, {"delay_ms": 5}), (resume_follower, {})]
)
def test_a_follower_that_can_not_be_told_how_to_fetch(
    before: Callable[[Cluster], None], why: str, verb: Verb[Any, ...], given: dict[str, int]
) -> None:
    cluster = a_driven_cluster()
    before(cluster)
    with pytest.raises(ConflictError, match=why):
        verb(cluster, following(cluster), **given)


def test_a_broker_that_was_down_follows_again_though_its_fetcher_was_to_die() -> None:
    cluster = a_driven_cluster()
    down(cluster)
    assert not fail_follower.attempt(cluster, following(cluster))
    VERBS["start-broker"](cluster, cluster.brokers[3])
    assert following(cluster).follower.state is FollowerState.IN_STEP


@pytest.mark.parametrize("delay_ms", [-1, True, "5", 1.5, None])
def test_a_delay_that_can_not_be(delay_ms: Any) -> None:
    cluster = a_driven_cluster()
    with pytest.raises(OptionError, match=r"delay_ms is .*: give a number of milliseconds"):
        slow_follower(cluster, following(cluster), delay_ms)


def test_a_leader_that_is_not_there() -> None:
    cluster = a_driven_cluster()
    partition = PARTITION.find(cluster, "t", 0)
    with pytest.raises(NotThereError, match="no broker 9: choose one of 1, 2, 3"):
        move_leader(cluster, partition, 9)
    with pytest.raises(OptionError, match="to is 'x': give a broker's id"):
        move_leader(cluster, partition, to="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("from_", "error", "why"),
    [
        ([], OptionError, "give a list of broker ids, and 'controller'"),
        ("controller", OptionError, "give a list"),
        ([9], NotThereError, "no broker 9"),
        (["controler"], NotThereError, "name ids, or 'controller'"),
        ([1], ConflictError, "always reaches itself"),
    ],
)
def test_what_a_broker_can_not_be_cut_off_from(from_: Any, error: type[Exception], why: str) -> None:
    cluster = a_driven_cluster()
    with pytest.raises(error, match=why):
        VERBS["cut-off-broker"](cluster, cluster.brokers[1], from_=from_)
