"""The order of the controller's hash tables, against the table itself, built key by key."""

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.controller.timeline_map import in_table_order


def _slot(code: int, slots: int) -> int:
    signed = code - 2**32 if code >= 2**31 else code
    product = (signed * -7046029254386353131) % 2**64
    return product >> (65 - slots.bit_length())


def _table(added: list[int]) -> list[int]:
    """`BaseHashTable.baseAddOrReplace` and `rehash`, step by step."""
    table: list[list[int]] = [[], []]
    for code in added:
        size = sum(map(len, table))
        if (size + 1) * 0.75 > len(table):
            grown: list[list[int]] = [[] for _ in range(2 * len(table))]
            for each in (each for slot in table for each in slot):
                grown[_slot(each, len(grown))].append(each)
            table = grown
        slot = table[_slot(code, len(table))]
        if code not in slot:
            slot.append(code)
    return [code for slot in table for code in reversed(slot)]


@given(st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=300), st.booleans())
def test_keys_are_in_the_order_of_the_table(codes: list[int], changed: bool) -> None:
    added = [*codes, *codes[:changed]]
    assert in_table_order(codes, len(added), int) == _table(added)


def test_what_was_removed_has_made_room() -> None:
    assert in_table_order(range(5), 5, int) == [2, 0, 4, 1, 3]
    assert in_table_order(range(5), 9, int) == in_table_order(range(5), 6, int) == [0, 2, 4, 1, 3]
