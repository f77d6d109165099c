"""Has real brokers tell stories, and says how that goes."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ..errors import MockBrokerError
from .scene import LacksApiError
from .stories import Recordable

out = Console(emoji=False, highlight=False, soft_wrap=True)
err = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)


def record(stories: Recordable, releases: Sequence[str], names: Sequence[str], folder: Path | None) -> bool:
    """Whether all went well. Those that share no brokers with one that broke off are recorded."""
    well = True
    for release, sharing in product(releases, stories.sharing(names)):
        head = f"{release} {sharing[0]}" + (f" and {len(sharing) - 1} more" if len(sharing) > 1 else "")

        def tell(what: str, release: str = release) -> None:
            out.print(escape(f"{release} {what}"))

        try:
            err.print(escape(f"{head}: starts brokers"))
            stories.record(release, sharing, tell, folder)
        except LacksApiError as lacking:
            err.print(escape(f"{head}: left out, for brokers lack {lacking}"))
        except (MockBrokerError, OSError, AssertionError, ExceptionGroup) as error:
            well = False
            for each in _leaves(error):
                err.print(f"[red]failed[/red] {escape(f'{head}: {each}')}")
    return well


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]
