"""What counts as not answered where two clusters are asked the same."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from mockbroker.conformance.differential.together import Together

KEY = (3, False)


def _nothing() -> str:
    raise TimeoutError


def _never() -> str:
    raise AssertionError("nobody waits on")


def test_an_answer_is_waited_for_that_the_other_cluster_has_got() -> None:
    together, waits = Together(2), Event()

    def late() -> str:
        waits.set()
        raise TimeoutError

    def quick() -> str:
        assert waits.wait(10)
        return "quick"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(together.awaited, 0, KEY, late, lambda: "late")
        second = pool.submit(together.awaited, 1, KEY, quick, _never)
        assert (first.result(10), second.result(10)) == ("late", "quick")


def test_it_is_no_answer_if_neither_has_one() -> None:
    together = Together(2)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(together.awaited, cluster, KEY, _nothing, _never) for cluster in (0, 1)]
        assert all(isinstance(each.exception(10), TimeoutError) for each in both)


def test_a_closed_connection_is_an_answer() -> None:
    together = Together(2)

    def closed() -> str:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        together.awaited(0, KEY, closed, _never)
    assert together.awaited(1, KEY, _nothing, lambda: "found") == "found"


@pytest.mark.parametrize("clusters", [1, 2])
def test_who_is_asked_alone_or_no_more_is_not_waited_for(clusters: int) -> None:
    together = Together(clusters)
    together.over(clusters - 1)
    with pytest.raises(TimeoutError):
        together.awaited(0, KEY, _nothing, _never)
