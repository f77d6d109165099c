"""`mockbroker hunt` and `check` with a cluster of somebody else's."""

import re

import pytest

from mockbroker import MockCluster
from mockbroker.rig.real_broker import RealCluster

from .. import needs
from .in_process import mockbroker
from .test_check import check
from .test_hunt import hunt, wrong

RIGHT = ("--client", "confluent-kafka", "--kafka", "4.4", "--fixed", "yes")


def test_what_can_be_played_is_played_and_nothing_is_left_behind() -> None:
    with MockCluster(topics={"t": 2}) as cluster:
        cluster.produce("t", "of somebody else", partition=0)
        upstream = ("--upstream", cluster.bootstrap_servers)
        done = check(*RIGHT, "--only", "retention", "--only", "leaders-move", *upstream)
        assert done.returncode == 0, done.stdout + done.stderr
        table = re.sub(r"\s+", " ", done.stdout.replace("│", " "))
        assert "scenario ┃ upstream ┃ 4.4, fixed" in table
        assert "retention right right" in table
        assert re.search(r"leaders-move not with an upstream: (.* )?right", table)
        assert [*cluster.topics()] == ["t"]
        assert [each.value for each in cluster.records("t")] == [b"of somebody else"]
        assert not cluster.groups()


def test_a_finding_says_whether_the_upstream_shows_it() -> None:
    with MockCluster() as cluster:
        options = ("--seeds", "102-102", "--shrink", "0", "--upstream", cluster.bootstrap_servers)
        done = hunt(*wrong("loses"), *options)
        assert done.returncode == 1, done.stderr
        assert not cluster.topics()
    lines = done.stdout.splitlines()
    (row,) = [each for each in lines if each.startswith("│ lost or twice")]
    assert "upstream" in next(each for each in lines if each.startswith("┃ harm"))
    assert re.search(r"1 of 1 +│$", row)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("hunt", "--application", "true", "--input", "i", "--output", "o"),
            "--upstream is for clients: give --client NAME",
        ),
        (("check", "--client", "confluent-kafka", "--cards", "cards"), "cards are about mocks: leave out"),
    ],
)
def test_what_has_no_upstream_is_refused(words: tuple[str, ...], said: str) -> None:
    done = mockbroker(*words, "--upstream", "127.0.0.1:1")
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.long
@pytest.mark.needs(*needs.JAVA)
def test_a_real_cluster_is_left_as_it_was() -> None:
    with RealCluster("4.4.0") as cluster:
        upstream = ("--upstream", cluster.bootstrap_servers)
        done = check(*RIGHT, "--only", "retention", *upstream)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"retention +│ right +│ right", done.stdout)
        with cluster.client(1) as client:
            topics = client.call("metadata", 4, {"topics": None})["topics"]
            assert {each["name"] for each in topics} <= {"__consumer_offsets", "__transaction_state"}
