"""The generated pages are those that the code gives."""

import pytest

from docs.generate import PAGES, REFERENCE, text


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE.parent / name).read_text() == text(name), "run `make docs`"
