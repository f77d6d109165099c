"""The markers of the plugin, with options that type checkers know."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

import pytest

from ..cluster_options import ClusterOptions
from ..proxy_options import MarkedProxyOptions

if TYPE_CHECKING:
    from ..names import ReleaseName


def mark(**options: Unpack[ClusterOptions]) -> pytest.MarkDecorator:
    """`@mockbroker.mark(kafka="2.3")` is `@pytest.mark.mockbroker(kafka="2.3")`."""
    return pytest.mark.mockbroker.with_args(**options)


def mark_proxy(**options: Unpack[MarkedProxyOptions]) -> pytest.MarkDecorator:
    """`@mockbroker.mark_proxy(kafka="2.8")` is `@pytest.mark.mockbroker_proxy(kafka="2.8")`."""
    return pytest.mark.mockbroker_proxy.with_args(**options)


def mark_matrix(
    *,
    kafka: "ReleaseName | Sequence[ReleaseName] | None" = None,
    fixed: bool | Literal["both"] | None = None,
) -> pytest.MarkDecorator:
    """`@pytest.mark.mockbroker_matrix`."""
    given: dict[str, Any] = {"kafka": kafka, "fixed": fixed}
    marked: pytest.MarkDecorator = pytest.mark.mockbroker_matrix
    return marked.with_args(**{name: each for name, each in given.items() if each is not None})
