"""What else brokers could have answered where a client met a behaviour."""

from collections.abc import Iterable, Iterator

from mockbroker.policies.catalogue import CATALOGUE, fixes
from mockbroker.protocol.releases import parse

from .cells import Cell
from .verdicts import Judged


def others(judged: Iterable[Judged], kafka: str) -> Iterator[Cell]:
    """Each other answer of each behaviour that a scenario has met, in the first scenario that has, on brokers
    with every other fix. Ordinary days come first: stories take longer. What is about access is not about
    behaviours."""
    release, usual, done = parse(kafka), fixes(), set[str]()
    for each in sorted(judged, key=lambda each: bool(each.cell.scenario.stories)):
        if each.cell.kafka != kafka or not each.cell.is_right or each.cell.scenario.is_about_access:
            continue
        for name in sorted(each.decided - done):
            done.add(name)
            behaviour = CATALOGUE[name]
            right = usual.get(name, behaviour.default(release))
            for answer in behaviour.answers:
                if answer != right:
                    yield Cell(each.cell.scenario, kafka, True, {name: answer}, one_of_many=True)
