"""Answers for a topic, a broker or both, at the start and while the cluster runs."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker import MockCluster, unchecked
from mockbroker.cluster.cluster import Cluster
from mockbroker.environment import Environment
from mockbroker.policies import Policies, UnknownPolicyError, fixes
from mockbroker.policies.epochs.undefined_epoch import undefined_epoch
from mockbroker.protocol.releases import parse
from mockbroker.seeded import streams

NAME: Final = "undefined-epoch"
CHOICES = ("undefined", "log-end-offset")


def undefined(policies: Policies) -> bool:
    return policies[undefined_epoch](3, 40) == (-1, -1)


def test_the_narrowest_scope_wins_a_topic_before_a_broker() -> None:
    policies = Policies(
        parse("4.4"),
        {
            f"{NAME}@broker:2": "log-end-offset",
            f"{NAME}@topic:orders": "undefined",
            f"{NAME}@topic:orders@broker:3": "log-end-offset",
        },
    )
    assert undefined(policies)
    assert undefined(policies.at("other", 1))
    assert not undefined(policies.at("other", 2))
    assert undefined(policies.at("orders", 2))
    assert not undefined(policies.at("orders", 3))
    assert policies.answer(NAME, topic="orders", broker=3) == "log-end-offset"
    assert policies.answer(NAME) == "undefined"


def test_answers_change_and_are_taken_back() -> None:
    policies = Policies(parse("4.4"))
    policies.set(NAME, "log-end-offset")
    assert not undefined(policies)
    policies.set(NAME, "undefined", topic="t")
    assert undefined(policies.at("t"))
    assert not undefined(policies.at("u"))
    policies.reset(NAME)
    policies.reset(NAME, topic="t", broker=1)
    assert undefined(policies)
    assert policies.answer(NAME, topic="t") == "undefined"


@pytest.mark.parametrize(
    "text",
    ["undefined-epoch@", "undefined-epoch@topic:", "undefined-epoch@broker:one", "undefined-epoch@client:x"],
)
def test_a_scope_that_is_not_one_is_refused(text: str) -> None:
    with pytest.raises(UnknownPolicyError, match="write the scope as"):
        Policies(parse("4.4"), {text: "undefined"})


def test_a_broker_that_is_not_there_is_refused() -> None:
    release = parse("4.4")
    policies = Policies(release, {f"{NAME}@broker:3": "undefined"})
    with pytest.raises(UnknownPolicyError, match="choose one of 1, 2"):
        Cluster(Environment(release, streams(0), policies=policies), brokers=2)


@given(
    st.lists(st.tuples(st.sampled_from((None, "t")), st.sampled_from((None, 1)), st.sampled_from(CHOICES)))
)
def test_what_is_in_force_is_what_was_set_last_in_the_narrowest_scope(
    steps: list[tuple[str | None, int | None, str]],
) -> None:
    policies, told = Policies(parse("4.4")), dict[tuple[str | None, int | None], str]()
    for topic, broker, answer in steps:
        policies.set(NAME, answer, topic=topic, broker=broker)
        told[topic, broker] = answer
    scopes = (("t", 1), ("t", None), (None, 1), (None, None))
    expected = next((told[scope] for scope in scopes if scope in told), "undefined")
    assert undefined(policies.at("t", 1)) == (expected == "undefined")
    assert policies.answer(NAME, topic="t", broker=1) == expected


def test_a_running_cluster_changes_its_behaviour() -> None:
    with MockCluster(brokers=2, policies=unchecked({f"{NAME}@topic:t": "log-end-offset"})) as cluster:
        assert cluster.policies.answer(NAME, topic="t") == "log-end-offset"
        cluster.policies.set(NAME, "log-end-offset", broker=2)
        assert cluster.policies.answer(NAME, broker=2) == "log-end-offset"
        for wrong in ({"name": "undefined-epochs"}, {"answer": "leo"}, {"broker": 9}):
            with pytest.raises(UnknownPolicyError, match=r"choose one of|did you mean"):
                cluster.policies.set(**{"name": NAME, "answer": "undefined", **wrong})  # type: ignore[arg-type]
        cluster.policies.reset(NAME, broker=2)
        assert cluster.policies.answer(NAME, broker=2) == "undefined"


def test_fixed_takes_every_fix_but_for_what_was_chosen() -> None:
    with MockCluster(kafka="0.11", fixed=True, policies={"empty-epochs": "kept"}) as cluster:
        answers = {name: cluster.policies.answer(unchecked(name)) for name in fixes()}
    assert answers == {**fixes(), "empty-epochs": "kept"}
