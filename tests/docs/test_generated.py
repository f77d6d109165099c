"""The generated pages are those that the code gives."""

import pytest

from docs.generate import REFERENCE, pages

PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text() == PAGES[name], "run `make docs`"
