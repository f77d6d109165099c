"""Applications are judged by the settings that their client was given, not by those that it does not take."""

from typing import Any, cast

import pytest

from mockbroker.clients.drivers import Answer
from mockbroker.clients.drivers.lines import Hello
from mockbroker.clients.hunt.journal import Opened
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import PATIENCE, Stage
from mockbroker.clients.hunt.users import Application
from mockbroker.server.serving import serve


class Returned:
    async def wait(self) -> Answer:
        return Answer(ok={}, error=None)


class Plain:
    """A driver that takes the name of a group, and nothing else."""

    hello = Hello("plain 1", frozenset(), None, settings={"consumer": frozenset({"group.id"})})

    def listen(self, handle: str, heard: Any) -> None:
        """Nothing will be heard."""

    async def send(self, *given: Any, **fields: Any) -> Returned:
        return Returned()


@pytest.mark.trio
async def test_a_member_whose_client_has_no_static_members_is_none() -> None:
    user = PlannedUser("m", "member", {})
    async with serve(kafka="4.4", brokers=1) as cluster:
        plan = Plan(1, "4.4", 1, (PlannedTopic("t", 1),), (user,))
        stage = Stage(plan, cast(Any, Plain()), "x", cluster, PATIENCE)
        config = {"group.id": "g", "group.instance.id": "one"}
        assert await Application(stage, user).open("consumer", config) is None
    assert [each.config for each in stage.journal.of(Opened)] == [{"group.id": "g"}]
