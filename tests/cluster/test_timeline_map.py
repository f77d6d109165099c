"""Which partition comes first for the controller, against the table itself, built key by key."""

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.cluster.timeline_map import first_partition


def _slot(key: int, slots: int) -> int:
    product = (key * -7046029254386353131) % 2**64
    return product >> (65 - slots.bit_length())


def _first_of_table(count: int) -> int:
    """`BaseHashTable.baseAddOrReplace` and `rehash`, step by step."""
    table: list[list[int]] = [[], []]
    for key in range(count):
        if (key + 1) * 0.75 > len(table):
            grown: list[list[int]] = [[] for _ in range(2 * len(table))]
            for each in (each for slot in table for each in slot):
                grown[_slot(each, len(grown))].append(each)
            table = grown
        table[_slot(key, len(table))].append(key)
    return next(slot[-1] for slot in table if slot)


@given(st.integers(1, 3000))
def test_the_first_partition_is_that_of_the_table(count: int) -> None:
    assert first_partition(count) == _first_of_table(count)
