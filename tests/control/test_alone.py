"""Operations on a cluster that nobody serves: no socket, no thread, and time that the test moves."""

import inspect
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.control.answers import Answer
from mockbroker.control.registry import Operation, Parameter
from mockbroker.control.table import OPERATIONS
from mockbroker.control.target import Target
from mockbroker.controller.topic_creation import assign_replicas
from mockbroker.duration import later
from mockbroker.errors import ConflictError, NotThereError
from mockbroker.faults import Faults
from mockbroker.trace import Trace
from tests.driving.cluster import a_cluster
from tests.properties import examples

AT_ONCE = [each for each in OPERATIONS.values() if not inspect.iscoroutinefunction(each.function)]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "broker": st.integers(0, 4),
    "topic": st.sampled_from(["t", "u", "__consumer_offsets", "a b"]),
    "partition": st.integers(-1, 3),
    "group": st.sampled_from(["g", ""]),
    "to": st.none() | st.integers(0, 4),
    "by": st.sampled_from(["1m", "0s", "later"]),
    "do": st.sampled_from(["disconnect", "hold", "stop-broker", "nothing"]),
    "from": st.none() | st.lists(st.sampled_from([1, 2, 3, 9, "controller", "x"]), max_size=2),
    "name": st.sampled_from(["1", "undefined-epoch", "restart-epoch", "x"]),
    "answer": st.sampled_from(["undefined", "log-end-offset", "x"]),
}
ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers(-5, 1 << 40)
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=2)
)


class TargetDriver:
    """A target, and how often it was poked."""

    def __init__(self) -> None:
        self.cluster = a_cluster()
        self.cluster.create_topic("t", assign_replicas(self.cluster.controller, 2, 3))
        self.pokes = 0
        trace = Trace(self.cluster)
        faults, servers = Faults(self.cluster), "127.0.0.1:9092"
        self.target = Target(self.cluster, faults, trace, servers, self._poke, self._advance, trace.start)

    def _poke(self) -> None:
        self.pokes += 1

    def _advance(self, by: Any) -> None:
        self.cluster.advance(later(self.cluster.now_ms, by))


def value(parameter: Parameter) -> st.SearchStrategy[Any]:
    return VALUES.get(parameter.name, ANYTHING)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Operation, dict[str, Any]]:
    """An operation and what it is given: all that it needs, and some of the rest."""
    operation = draw(st.sampled_from(AT_ONCE))
    given = {
        each.name: draw(value(each))
        for each in operation.parameters.values()
        if not each.rest and (each.required or draw(st.booleans()))
    }
    return operation, given


def test_whatever_is_asked_is_done_or_refused_and_can_be_told() -> None:
    """Any other error than these three would be a 500, and raise from MockCluster's calls."""
    done = refused = 0

    @given(st.lists(asked(), max_size=10))
    @settings(max_examples=examples(100))
    def check(steps: list[tuple[Operation, dict[str, Any]]]) -> None:
        nonlocal done, refused
        bench = TargetDriver()
        for operation, given_ in steps:
            try:
                arguments = operation.arguments(given_)
            except ValueError:
                continue
            before = bench.pokes
            try:
                answer = bench.target.do(operation.function, **arguments)
            except (NotThereError, ConflictError, ValueError) as error:
                answer = str(error)
                refused += 1
            else:
                done += 1
            assert Answer(answer).body != b'""'
            assert bench.pokes - before >= 2
            bench.cluster.advance(bench.cluster.now_ms + 1_000)

    check()
    assert done
    assert refused
