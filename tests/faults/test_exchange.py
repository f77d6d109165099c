"""A request on its way through faults, with a handler and faults that are the test's own."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.cluster.call import Call
from mockbroker.faults.exchange import Exchange
from mockbroker.outcome import CLOSE, PARKED, Client, Failed
from mockbroker.protocol.api_keys import ApiKey
from tests.driving.cluster import a_cluster
from tests.properties import examples

CLUSTER = a_cluster(brokers=1)


class Touching:
    """A fault that notes when it is asked, and may wait, fail or end everything."""

    do = "note"

    def __init__(self, log: list[str], name: str, *, before: bool, what: str = "go on") -> None:
        self._log, self._name, self._before, self._what = log, name, before, what
        self.held: list[Exchange] = []

    def acts_before(self, api: ApiKey) -> bool:
        return self._before

    def touch(self, exchange: Exchange) -> bool:
        self._log.append(self._name)
        match self._what:
            case "wait":
                self.held.append(exchange)
                return False
            case "fail":
                raise ZeroDivisionError(self._name)
            case "close":
                exchange.end(CLOSE)
            case "answer":
                exchange.answer_with(f"{self._name}'s")
        return True


class Way:
    """One exchange, and all that is to be seen of it from outside."""

    def __init__(self, *faults: tuple[str, bool], parks: bool = False) -> None:
        self.log: list[str] = []
        self.touching = [
            Touching(self.log, f"{number}", before=before, what=what)
            for number, (what, before) in enumerate(faults)
        ]
        self._parks = parks
        self._parked: list[Call] = []
        self.answers: list[Any] = []
        client = Client("/127.0.0.1", "test")
        call = Call(
            CLUSTER, CLUSTER.brokers[1], 0, client, "c", lambda _, answer: self.answers.append(answer)
        )
        self.exchange = Exchange(call, ApiKey.LIST_GROUPS, "request", self._work, self.touching)

    def _work(self, call: Call, request: Any) -> Any:
        assert request == "request"
        self.log.append("work")
        if self._parks:
            self._parked.append(call)
            return PARKED
        return "answer"

    def go(self) -> Any:
        """What comes of it once all that waits was let go; raises what the work or a fault raised."""
        begun = self.exchange.begin()
        waited = False
        for _ in range(len(self.touching) + 1):
            for fault in self.touching:
                while fault.held:
                    waited = True
                    fault.held.pop().go_on()
            while self._parked:
                waited = True
                self._parked.pop().answer("answer")
        assert (begun is PARKED) == waited
        if not waited:
            assert not self.answers
            return begun.answer
        (answered,) = self.answers
        if isinstance(answered, Failed):
            raise answered.error
        return answered.answer


@given(
    faults=st.lists(st.tuples(st.sampled_from(["go on", "wait"]), st.booleans()), max_size=6),
    parks=st.booleans(),
)
@settings(max_examples=examples(100))
def test_those_before_the_work_come_first_each_once_and_in_order(
    faults: list[tuple[str, bool]], parks: bool
) -> None:
    way = Way(*faults, parks=parks)
    assert way.go() == "answer"
    before = [str(number) for number, (_, before) in enumerate(faults) if before]
    after = [str(number) for number, (_, before) in enumerate(faults) if not before]
    assert way.log == [*before, "work", *after]


@pytest.mark.parametrize("parks", [False, True])
def test_what_closes_before_the_work_keeps_all_else_from_happening(parks: bool) -> None:
    way = Way(("close", True), ("go on", True), ("go on", False), parks=parks)
    assert way.go() is CLOSE
    assert way.log == ["0"]


def test_an_answer_in_place_of_the_work_is_touched_as_the_work_s_own() -> None:
    way = Way(("answer", True), ("go on", True), ("go on", False))
    assert way.go() == "0's"
    assert way.log == ["0", "2"]


def test_an_answer_in_place_of_another_is_the_last() -> None:
    way = Way(("answer", False), ("go on", False), parks=True)
    assert way.go() == "0's"
    assert way.log == ["work", "0", "1"]


@pytest.mark.parametrize("first", ["go on", "wait"])
@pytest.mark.parametrize("before", [True, False])
def test_an_error_ends_it_whether_anybody_waits_or_not(first: str, before: bool) -> None:
    way = Way((first, before), ("fail", before), ("go on", False))
    with pytest.raises(ZeroDivisionError):
        way.go()
    assert way.log == ["work"] * (not before) + ["0", "1"]


def test_it_is_at_work_only_while_it_takes_steps() -> None:
    seen: list[object] = []
    way = Way(("wait", True))

    def note(_: Exchange) -> bool:
        seen.append(CLUSTER.environment.at_work)
        return True

    way.exchange.then(note)
    way.go()
    assert seen == [way.exchange.call]
    assert CLUSTER.environment.at_work is None
