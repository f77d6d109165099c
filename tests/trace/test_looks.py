"""What has changed of a partition from one look to the next."""

from mockbroker.trace.events import Truncation
from mockbroker.trace.looks import Look, changes
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
