"""Old names of modules that moved: they work, and warn."""

import importlib
import sys

import pytest

import mockbroker.conformance


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mockbroker.conformance.client", "mockbroker.rig.client"),
        ("mockbroker.conformance.hunt", "mockbroker.clients.hunt"),
        ("mockbroker.conformance.hunt.plan", "mockbroker.clients.hunt.plan"),
        ("mockbroker.conformance.drivers.lines", "mockbroker.clients.drivers.lines"),
    ],
)
def test_an_old_name_gives_the_module_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    forget_imports(monkeypatch)
    with pytest.warns(DeprecationWarning, match="mockbroker.conformance") as warned:
        module = importlib.import_module(old)
    assert f"{old} is {new} now" in {str(each.message) for each in warned}
    assert module is importlib.import_module(new)
    assert module.__spec__ is not None
    assert module.__spec__.name == new


def test_a_warning_is_at_the_line_that_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_imports(monkeypatch)
    with pytest.warns(DeprecationWarning, match="batches is") as warned:
        from mockbroker.conformance import batches  # type: ignore[attr-defined]
    assert batches.__name__ == "mockbroker.rig.batches"
    assert [each.filename for each in warned] == [__file__]


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mockbroker.conformance.nothing")


def forget_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not imported anything by an old name."""
    for name in list(sys.modules):
        if name.startswith("mockbroker.conformance.") and sys.modules[name].__name__ != name:
            monkeypatch.delitem(sys.modules, name)
            monkeypatch.delattr(mockbroker.conformance, name.split(".")[2], raising=False)
