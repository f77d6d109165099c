"""Many seeds of the client that is right, in which nothing happens to the cluster but that partitions and
topics are added: `python -m tests.clients.hunt.right_client 1-500` plays them, and ends with 1 if anything is
violated. Seeds of which the machine was too busy to tell are named; with many of them a run says little."""

import os
import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import replace

import trio
from rich.console import Console

from mockbroker.clients.drivers.shipped import PROGRAMS
from mockbroker.clients.hunt.campaign import Result, campaign
from mockbroker.clients.hunt.drawing import draw
from mockbroker.clients.hunt.plan import Plan

from .test_wrong_clients import command, without_defects

OUT = Console(highlight=False, markup=False, soft_wrap=True)
_ADDS = frozenset({"add-partitions", "add-topic", "slow-metadata"})


def drawn(seed: int, capabilities: frozenset[str], kafka: str) -> Plan:
    plan = draw(seed, capabilities, kafka)
    return without_defects(replace(plan, steps=tuple(step for step in plan.steps if step.do in _ADDS)))


async def violated(seeds: range, lanes: int) -> bool:
    played, found, unproven = Counter[str](), list[str](), set[int]()

    def take(result: Result) -> None:
        played[result.plan.workload] += 1
        for each in result.found:
            found.append(f"seed {result.seed}: {each.violation}; again in {each.repeated} of {each.repeats}")
            OUT.print(found[-1])
        for violation in result.unproven:
            unproven.add(result.seed)
            OUT.print(f"seed {result.seed}: the machine was too late to tell: {violation}")

    async with campaign(command("right"), lanes, repeats=1) as drivers:
        await drivers.hunt(seeds, take, "4.4", drawn)
    OUT.print(f"{played.total()} seeds ({', '.join(f'{n} {name}' for name, n in played.most_common())})")
    OUT.print(f"{len(found)} violations, and {len(unproven)} seeds that could not be judged")
    return bool(found)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="from which to which, such as 1-500")
    parser.add_argument("--lanes", type=int, default=4, help="how many runs at a time")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    os.environ["MOCKBROKER_PROGRAMS"] = str(PROGRAMS / "python")
    sys.exit(trio.run(violated, range(int(first), int(last) + 1), given.lanes))


if __name__ == "__main__":
    main()
