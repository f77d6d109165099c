"""What a replay with real clients lacks."""

from collections.abc import Iterator
from typing import Final

from mockbroker.simulation.consumer_setting import Commit
from mockbroker.simulation.plan import Plan
from mockbroker.simulation.producer_setting import Generation

from ..drivers.in_thread import Client

_COMMITS: Final = (Commit.POSITION, Commit.NO_EPOCH)


def missing(plan: Plan, client: Client) -> Iterator[str]:
    """As readable lines. ValueError if the client can't stand in the model's place at all."""
    if plan.compacted and "headers" not in client.capabilities:
        raise ValueError(f"{client.name}: its driver sends no headers, by which compacted records are known")
    if "groups" not in client.capabilities:
        raise ValueError(f"{client.name}: it has no groups")
    if "group-assign" not in client.capabilities:
        yield "its consumers are members of the group: one that owns no partition is closed"
    if plan.consumer.commit not in _COMMITS:
        yield f"it can't commit {plan.consumer.commit}: it commits {Commit.POSITION}"
    for each in plan.producers:
        if each.transactional:
            continue
        if each.generation is not Generation.PLAIN and "idempotence" not in client.capabilities:
            yield "it has no idempotent producer"
        elif each.generation in (Generation.V0_11, Generation.V1_0):
            yield f"it is no producer of generation {each.generation}: it has rules of its own (KIP-360)"
        if each.acks != -1 and each.generation is not Generation.PLAIN:
            yield f"an idempotent producer can't have acks={each.acks}: it has acks=-1"
    if any(each.transactional for each in plan.producers):
        yield "transactional producers are still the model's"
    if plan.group.members:
        yield "the members to which the coordinator assigns partitions are still the model's"
    if plan.shares.members:
        yield "the members of the share group are still the model's"
    if plan.purges:
        yield "what the group deletes is still deleted by the model"
