"""What happens to clients in a hunt is what may happen to them with Kafka, unless it may be illegal too."""

from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker import Security
from mockbroker.clients.hunt.admission import BARS, REFUSE_LOGIN, admit
from mockbroker.clients.hunt.drawing import draw, workloads
from mockbroker.clients.hunt.drawn_access import secured
from mockbroker.clients.hunt.events import happen
from mockbroker.clients.hunt.journal import Journal
from mockbroker.clients.hunt.legal import ANSWERS, FAULTS, WITHOUT_TRANSACTIONAL_ID
from mockbroker.clients.hunt.plan import Plan, Step
from mockbroker.clients.hunt.stage import Outcome
from mockbroker.faults import parse
from mockbroker.faults.match import parse_api
from mockbroker.protocol.api_keys import CODEC_VERSIONS
from mockbroker.server.serving import serve

ALL = ("groups", "transactions", "idempotence", "deserializer", "send-offsets")


def steps(*, illegal: bool = False) -> Iterator[Step]:
    for seed in range(400):
        yield from draw(seed, ALL, illegal=illegal).steps


def faults(*, illegal: bool) -> Iterator[dict[str, Any]]:
    return (dict(step.fields) for step in steps(illegal=illegal) if step.do == "fault")


def test_no_fault_that_is_drawn_does_what_no_broker_does() -> None:
    drawn = list(faults(illegal=False))
    assert {each["error"] for each in drawn if each["do"] == "error"} > {
        "NOT_COORDINATOR",
        "NOT_LEADER_OR_FOLLOWER",
    }
    assert {parse(each).illegal for each in drawn} == {""}


def test_members_get_the_error_of_the_release_while_their_group_is_loaded() -> None:
    """Up to 3.9 SyncGroup gets another one (GroupCoordinator.handleSyncGroup)."""

    def refused(kafka: str) -> set[str]:
        drawn = (step for seed in range(2_000) for step in draw(seed, ALL, kafka).steps)
        return {step.fields.get("error", "") for step in drawn if step.fields.get("api") == "SyncGroup"}

    assert refused("4.4") - refused("2.8") == {"COORDINATOR_LOAD_IN_PROGRESS"}
    assert refused("2.8") - refused("4.4") == set()


def test_illegal_ones_are_drawn_too_if_they_may_be() -> None:
    drawn = list(faults(illegal=True))
    assert any(parse(each).illegal for each in drawn if each["do"] == "error")
    assert {"wrong-correlation-id", "reorder"} < {each["do"] for each in drawn}


def test_an_admin_is_asked_only_for_what_its_client_can_do() -> None:
    can = ("admin", "delete-topic", "list-offsets")
    assert "admin" in workloads(can)
    plans = [draw(seed, can, workload="admin") for seed in range(60)]
    admins = [user for plan in plans for user in plan.users if user.kind == "admin"]
    assert {step.do for user in admins for step in user.steps} == {"create", "delete", "list"}


def test_a_plan_with_security_is_the_same_each_time_and_can_be_played() -> None:
    plans = [secured(draw(seed, ALL)) for seed in range(200)]
    assert plans == [secured(draw(seed, ALL)) for seed in range(200)]
    assert {Security.of(each.security).mechanisms for each in plans} == {  # type: ignore[union-attr]
        ("PLAIN",),
        ("SCRAM-SHA-256",),
        ("SCRAM-SHA-512",),
    }
    done = [step for each in plans for step in each.steps]
    assert {each.do for each in done} >= BARS - {REFUSE_LOGIN} | {"add-acl"}
    drawn = [dict(step.fields) for step in done if step.do == "fault"]
    assert {"wrong-signature", "wrong-nonce"} < {each["do"] for each in drawn}
    assert {parse(each).illegal for each in drawn if not each["do"].startswith("wrong-")} == {""}
    assert all(Plan.from_json(each.to_json()) == each for each in plans)


def test_clients_that_ask_for_tokens_get_them_in_some_plans() -> None:
    plans = [draw(seed, ALL) for seed in range(200)]
    found = [secured(each, {"oidc"}) for each in plans]
    signed = [each for each in found if each.security.get("signed_tokens")]
    assert {Security.of(each.security).mechanisms for each in signed} == {  # type: ignore[union-attr]
        ("OAUTHBEARER",)
    }
    assert 20 < len(signed) < 80
    assert all(one == secured(plan) for one, plan in zip(found, plans, strict=True) if one not in signed)
    done = {step.do for each in signed for step in each.steps}
    assert "set-password" not in done
    assert {"show-certificate", "remove-acl"} <= done


@pytest.mark.trio
async def test_all_is_well_again_once_clients_are_admitted() -> None:
    plan = secured(draw(0, ALL))
    async with serve(brokers=1, security=Security.of(plan.security)) as cluster:
        acls = cluster.acls()
        for step in (
            Step("remove-user", 0, {"user": "alice"}),
            Step("remove-acl", 0, {"acl": plan.security["acls"][0]}),
            Step("show-certificate", 0, {"certificate": "expired"}),
            Step("break-handshakes", 0, {"how": "cut"}),
        ):
            assert await happen(cluster, Outcome(plan, Journal()), step.do, step.fields) == ""
        admit(cluster, plan)
        assert sorted(cluster.acls()) == sorted(acls)
        assert [each["user"] for each in cluster.users()] == ["alice"]
        assert cluster.handshakes()["how"] is None


@pytest.mark.parametrize("api", FAULTS)
def test_each_is_legal_in_all_versions_that_it_is_for(api: str) -> None:
    oldest, newest = CODEC_VERSIONS[parse_api(api)]
    assert FAULTS[api]
    for fault in FAULTS[api]:
        for version in fault.get("version", range(oldest, newest + 1)):
            assert not parse({"do": "error", "api": api, **fault, "version": version}).illegal


def test_what_depends_on_more_than_the_version_is_left_out() -> None:
    assert "COORDINATOR_LOAD_IN_PROGRESS" in ANSWERS["JoinGroup"]
    assert "COORDINATOR_LOAD_IN_PROGRESS" not in ANSWERS["Heartbeat"]
    assert "UNSTABLE_OFFSET_COMMIT" not in ANSWERS["OffsetFetch"]


def test_a_coordinator_is_at_fault_only_where_one_is_asked_for_a_producer_id() -> None:
    drawn: dict[bool, set[str]] = {True: set(), False: set()}
    for seed in range(3_000):
        plan = draw(seed, ALL)
        transactional = any("transactional.id" in user.config for user in plan.users)
        for step in plan.steps:
            if step.fields.get("api") == "InitProducerId" and "error" in step.fields:
                drawn[transactional].add(step.fields["error"])
    assert drawn[False] == {*WITHOUT_TRANSACTIONAL_ID, "CLUSTER_AUTHORIZATION_FAILED"}
    assert drawn[True] > {*WITHOUT_TRANSACTIONAL_ID}


def test_brokers_forget_what_they_forget_in_their_own_way() -> None:
    drawn = {step.fields["do"] if step.do == "fault" else step.do for step in steps()}
    assert {"evict-member", "expire-transactional-id", "drop-fetch-sessions"} < drawn
