"""What is generated for companions."""

import pytest

from companions.api import NAMES
from companions.generate import FILES, FOLDER
from mockbroker import MockCluster
from mockbroker.control.table import OPERATIONS

OF_ITS_OWN = {
    "move_transaction_coordinator": "move_coordinator",
    "set_policy": "policies.set",
    "reset_policy": "policies.reset",
    "clear_faults": "faults.clear",
    "advance_clock": "clock.advance",
}
"""Where a method of Python takes several things, or belongs to a part of the cluster."""
LEFT_OUT = {"faults-add", "faults-preview", "faults-pause", "faults-release", "faults-remove"}
LEFT_OUT |= {"tokens-issue", "certificates-show"}


@pytest.mark.needs("go", "cargo")
@pytest.mark.parametrize("name", FILES)
def test_it_is_that_of_this_checkout(name: str) -> None:
    assert (FOLDER / name).read_text() == FILES[name](), f"{name} is stale: python -m companions.generate"


def test_everything_that_can_be_done_to_a_cluster_has_a_method_named_as_in_python() -> None:
    acts = {name.replace(" ", "-") for name, each in OPERATIONS.items() if each.method != "GET"}
    assert acts - LEFT_OUT | {"groups-wait"} == set(NAMES)
    with MockCluster(brokers=1) as cluster:
        for name in NAMES.values():
            found: object = cluster
            for part in OF_ITS_OWN.get(name, name).split("."):
                found = getattr(found, part)
