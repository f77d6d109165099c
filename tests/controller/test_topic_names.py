"""Names of topics that collide, as those of their metrics do."""

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.controller.topic_names import Colliding

NAMES = st.text(alphabet="a._-", min_size=1, max_size=4)


@given(steps=st.lists(st.tuples(st.booleans(), NAMES), max_size=20), asked=NAMES)
def test_the_first_name_that_looks_alike_is_found(steps: list[tuple[bool, str]], asked: str) -> None:
    found, there = Colliding(), dict[str, None]()
    for comes, name in steps:
        if comes:
            found.add(name)
            there[name] = None
        else:
            found.discard(name)
            there.pop(name, None)
    alike = [name for name in there if name.replace(".", "_") == asked.replace(".", "_")]
    marked = "." in asked or "_" in asked
    assert found.with_name_like(asked) == (next(iter(alike), None) if marked else None)
