"""Fields of faults that have any shape: each fault is refused with a FaultError, or does what it says."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.faults import Faults
from mockbroker.faults.actions import ACTIONS
from mockbroker.faults.match import FaultError, Match

from ..driving import wire
from ..driving.cluster import a_cluster
from ..driving.connections import ConnectionDriver
from ..properties import examples

WITHOUT_EFFECT = {"value"}
"""A field of an answer may be replaced by anything; what can't be encoded ends the connection."""
USUAL = st.sampled_from(
    [
        "ApiVersions",
        "Metadata",
        "after",
        "before",
        "instead",
        "t",
        "x*",
        "top",
        "partition",
        "NOT_COORDINATOR",
        "throttle_time_ms",
        True,
        {"t": [0]},
        1,
        2,
        100,
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | USUAL,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


def shapes(do: str) -> st.SearchStrategy[dict[str, Any]]:
    own = {each.name for each in fields(ACTIONS[do]) if each.init} - WITHOUT_EFFECT
    known = sorted(own | {each.name for each in fields(Match)} | {"when", "optional"})
    some = st.dictionaries(st.sampled_from(known), ANYTHING, max_size=3)
    needed = st.fixed_dictionaries(dict.fromkeys(sorted(own), USUAL))
    return st.builds(lambda usual, odd: {"do": do, **usual, **odd}, needed, some)


@given(given_=st.sampled_from(sorted(ACTIONS)).flatmap(shapes))
@settings(max_examples=examples(300))
def test_a_fault_of_any_shape_is_refused_or_does_its_work(given_: dict[str, Any]) -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    try:
        fault = faults.add(**given_)
    except FaultError:
        return
    assert str(fault)
    driver = ConnectionDriver(cluster, faults)
    for request in (wire.api_versions(), wire.request(3, 1, b"\xff\xff\xff\xff")):
        # Of what it sends, a fault may hold back all but a byte.
        driver.connect().receive(memoryview(request).toreadonly())
        driver.advance(1)
    assert driver.heard.errors == []
    assert fault.why or fault.hits


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"do": "disconnect", "api": [[]]}, r"api is \[\]: give a name"),
        ({"do": "disconnect", "api": [None]}, "api is None"),
        ({"do": "disconnect", "api": True}, "api is True"),
        ({"do": [], "api": 1}, r"no fault \[\]"),
        ({"do": "disconnect", "version": ["1"]}, r"version is \['1'\]: give a number, or a list"),
        ({"do": "disconnect", "version": {"a": 1}}, "version is"),
        ({"do": "disconnect", "optional": "yes"}, "optional is 'yes': give true or false"),
        ({"do": "disconnect", "nth": None}, "nth is None"),
        ({"do": "disconnect", "seed": None}, "seed is None"),
        ({"do": "hide-broker", "target": [1]}, r"target is \[1\]"),
        ({"do": "wrong-correlation-id", "by": "x"}, "by is 'x'"),
        ({"do": "throttle", "ms": 1 << 31}, "ms is 2147483648: give a number, 0 or more, and 2147483647"),
        ({"do": "error", "error": True}, "error is True"),
        ({"do": "error", "error": [[]]}, r"error is \[\]"),
        ({"do": "error", "error": 1, "level": []}, r"no level \[\]"),
        ({"do": "replace", "api": "Fetch", "field": [], "value": 1}, r"field is \[\]"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(FaultError, match=reason):
        Faults(a_cluster(brokers=1)).add(**wrong)
