"""Faults that are tied to a request: the first of an API, the second, or the first after some call."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple, Protocol

from mockbroker.faults.legal import legal_codes
from mockbroker.faults.match import parse_api
from mockbroker.protocol.errors import ErrorCode

from .drawn_calls import on_call
from .legal import FAULTS, SHARE_FAULTS, faults_of, fields_of
from .plan import Fields, Step

ANY: Final = "*"
"""The client id of requests that may be any client's."""
_MOST: Final = 4
"""At which of the requests of an API a fault is aimed at most."""
_MOST_AFTER: Final = 2
"""The same after a call."""
_PAIRS: Final = 0.35
_COORDINATED: Final = frozenset(
    {
        "JoinGroup",
        "SyncGroup",
        "Heartbeat",
        "LeaveGroup",
        "OffsetCommit",
        "OffsetFetch",
        "ConsumerGroupHeartbeat",
        "ShareGroupHeartbeat",
        "InitProducerId",
        "AddPartitionsToTxn",
        "AddOffsetsToTxn",
        "TxnOffsetCommit",
        "EndTxn",
    }
)
_OF_MEMBERS: Final = frozenset(
    {"SyncGroup", "Heartbeat", "OffsetCommit", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat"}
)
_SHARED: Final = frozenset({"ShareFetch", "ShareAcknowledge"})
_PASSING: Final = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTION_ABORTABLE,
    }
)
"""Refusals that don't say to try again, and are given whatever the state: ACLs reach brokers one by one, and
checks of a transaction may fail for a while."""
_LOOKED_UP: Final[Mapping[ErrorCode, Fields]] = {
    ErrorCode.GROUP_AUTHORIZATION_FAILED: {"group": ANY},
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: {"transactional_id": ANY},
}
_LED: Final = frozenset({"Produce", "Fetch", "ListOffsets", *_SHARED})
_BACK_MS: Final = 300
_NUMBER: Final = re.compile(r"\d+")
_ALWAYS: Final[tuple[Fields, ...]] = (
    {"do": "disconnect", "when": "before"},
    {"do": "disconnect", "when": "after"},
    {"do": "reset", "when": "after"},
    {"do": "delay", "ms": 600},
    {"do": "delay", "ms": 3_500},
    {"do": "quota", "ms": 400},
    {"do": "slow-bytes", "bytes": 3, "ms": 1},
)
"""Lost, late, later than `request.timeout.ms`, throttled, in small packets."""
_OF_A_CONNECTION: Final = " of a connection"
"""A place: the first request of a connection, or the next one."""


class Asked(NamedTuple):
    """A client makes `most` requests of an API: in all, or after a call of its application.

    `client_id` is a pattern in which a `*` stands for the number of an application.
    """

    client_id: str
    call: str
    api: str
    most: int


class Aim(NamedTuple):
    """A fault and where: `place` is the number of the request, and what it comes after."""

    client_id: str
    api: str
    place: str
    way: str


class Guide(Protocol):
    """Knows what was played before."""

    def asked(self, workload: str) -> Sequence[Asked]:
        """What clients ask in such plans; empty if that is not known."""

    def least(self, workload: str, aims: Sequence[Aim], seed: int) -> int:
        """The index of one that was played the least."""


@functools.cache
def ways(api: str, *, transactional: bool, brokers: int) -> Mapping[str, Fields]:
    """The faults that a request of an API, or of any, may meet, by what is said of them."""
    every: list[Fields] = [*_ALWAYS]
    if api in FAULTS or api in SHARE_FAULTS:
        every += [{"do": "error", **each} for each in faults_of(api, transactional)]
        every += [{"do": "error", **each} for each in _passing(api, transactional)]
    if brokers > 1:
        every += [{"do": "move-coordinator"}] * (api in _COORDINATED)
        every += [{"do": "move-leader"}] * (api in _LED)
        every += [{"do": "stop-broker"}]
    every += [{"do": "evict-member"}] * (api in _OF_MEMBERS)
    if api in _SHARED:
        every += [{"do": "expire-locks"}, {"do": "drop-share-sessions"}]
    return {way_of(each): each for each in every}


def _passing(api: str, transactional: bool) -> list[Fields]:
    key = parse_api(api)
    codes = {each.code for each in legal_codes(key) if each.code in _PASSING and not each.retry}
    if not transactional:
        codes -= {ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ErrorCode.TRANSACTION_ABORTABLE}
    if transactional or api != "InitProducerId":
        codes -= {ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
    # Which of them a look-up may get depends on what it looks for.
    about = _LOOKED_UP if api == "FindCoordinator" else {}
    return [{**fields_of(key, code), **about.get(code, {})} for code in sorted(codes)]


def way_of(fields: Fields) -> str:
    """What is said of a fault with these fields."""
    if fields["do"] == "error":
        return f"{fields['error']}{', though done' if fields.get('when') == 'after' else ''}"
    more = [str(fields[name]) for name in ("when", "ms") if name in fields]
    return " ".join([fields["do"], *more])


def place_of(step: Step) -> str:
    """At which request the fault of a step is aimed; empty if it is thrown at any."""
    if "nth_on_connection" in step.fields:
        return f"{step.fields['nth_on_connection']}{_OF_A_CONNECTION}"
    if "nth" not in step.fields:
        return ""
    after = step.on.get("call") or step.on.get("fault")
    return f"{step.fields['nth']} after {after}" if after else str(step.fields["nth"])


def assumed(apis: Sequence[str], calls: Sequence[str]) -> list[Asked]:
    """What clients may ask of whom nothing is known yet."""
    every = [Asked(ANY, "", api, _MOST - 1) for api in apis]
    return every + [Asked(ANY, call, api, 1) for call in calls for api in apis]


class Aiming:
    """Aims faults at what the clients of a plan ask. `users` are the names of the applications, with how
    often each makes which call."""

    def __init__(
        self,
        random: Random,
        asked: Sequence[Asked],
        users: Mapping[str, Mapping[str, int]],
        *,
        transactional: bool,
        brokers: int,
    ) -> None:
        self._random, self._asked, self._users = random, asked, users
        self._given: dict[str, Any] = {"transactional": transactional, "brokers": brokers}

    def steps(self, guide: Guide | None, workload: str, seed: int) -> list[Step]:
        """One fault, or two: the second one soon after the first has acted."""
        first = self._chosen(guide, workload, seed, [*self._placed("")])
        steps = self._made(first)
        if self._random.random() < _PAIRS:
            soon_ms = self._random.choice((0, 0, 20, 100))
            second = self._chosen(guide, workload, seed, [*self._placed(steps[0].name)])
            steps += self._made(second, steps[0].name, soon_ms)
        return steps

    def _chosen(self, guide: Guide | None, workload: str, seed: int, every: Sequence[Aim]) -> Aim:
        if guide is not None:
            return every[guide.least(workload, every, seed)]
        return self._random.choice(every)

    def _placed(self, after: str) -> Iterator[Aim]:
        """Where faults can be aimed: at each request, or at what comes `after` another fault."""
        if after:
            for client_id, api in dict.fromkeys((each.client_id, each.api) for each in self._asked):
                for way in ways(api, **self._given):
                    yield Aim(client_id, api, f"1 after {after}", way)
            return
        for client_id, call, api, count in self._asked:
            if call:
                places = [f"{n} after {call}" for n in range(1, min(count, _MOST_AFTER) + 1)]
            else:
                places = [str(n) for n in range(1, min(count, _MOST) + 1)]
            for way in ways(api, **self._given):
                yield from (Aim(client_id, api, place, way) for place in places)
        for client_id in dict.fromkeys(each.client_id for each in self._asked):
            for way in ways(ANY, **self._given):
                yield from (Aim(client_id, ANY, f"{n}{_OF_A_CONNECTION}", way) for n in (1, 2))

    def _made(self, aim: Aim, fault: str = "", after_ms: int = 0) -> list[Step]:
        random, (nth, _, call) = self._random, aim.place.partition(" after ")
        fields: dict[str, Any] = dict(ways(aim.api, **self._given)[aim.way])
        if aim.place.endswith(_OF_A_CONNECTION):
            fields |= {"nth_on_connection": int(nth.split()[0]), "nth": random.choice((1, 1, 2, 3))}
        else:
            fields |= {"api": aim.api, "nth": int(nth)}
        if aim.client_id != ANY:
            fields["client_id"] = aim.client_id
        if fields["do"] == "error":
            fields["times"] = random.choice((1, 1, 1, 3))
        on: dict[str, Any] = {"fault": fault} if fault else {}
        if call and not fault:
            caller = self._caller(aim.client_id, call)
            on = {**on_call(random, caller, call, self._users[caller].get(call, 1))}
        name = f"{aim.api} {aim.way}" + (" again" if fault else "")
        steps = [Step("fault", after_ms, fields, on, name)]
        if fields["do"] == "stop-broker":
            steps.append(Step("start-brokers", _BACK_MS, on={"fault": name}))
        return steps

    def _caller(self, client_id: str, call: str) -> str:
        """One of those that make the call; one whose client id it is if that says so."""
        made_by = [name for name, calls in self._users.items() if call in calls] or [*self._users]
        return self._random.choice([name for name in made_by if role(name) == client_id] or made_by)


def role(name: str) -> str:
    """The name of an application, or a client id, without its number."""
    return _NUMBER.sub(ANY, name)
