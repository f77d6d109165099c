"""What has changed of a partition from one look to the next."""

from dataclasses import MISSING, fields

import pytest

from mockbroker.trace import Event
from mockbroker.trace.events import KINDS, Truncation
from mockbroker.trace.looks import Change, Look, as_rows, changes
from tests.driving.log import LogDriver


def test_each_truncation_is_told_once(driver: LogDriver) -> None:
    driver.append(times=4)
    seen, told = Look.at(driver.partition, details=False), []
    for offsets in ((3,), (), (2, 1)):
        for offset in offsets:
            driver.log.truncate(offset)
        now = Look.at(driver.partition, details=False)
        found = changes(driver.partition, seen, now, details=False)
        told.append([change.values[3:] for change in found if change.kind is Truncation])
        seen = now
    assert told == [[(4, 3)], [], [(3, 2), (2, 1)]]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_row_of_a_keyframe_is_that_of_its_event(kind: type[Event]) -> None:
    """Also if the last fields are left out."""
    _, _, *names = fields(kind)
    values = tuple(each.name for each in names)
    for given in {len(values), len([each for each in names if each.default is MISSING])}:
        [row] = as_rows([Change(kind, values[:given])])
        whole = kind(0, 0, *values[:given]).row()
        assert list(row.items()) == [each for each in whole.items() if each[0] not in ("number", "time_ms")]
