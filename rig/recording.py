"""Has real brokers tell stories, and says how that goes."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from ..errors import MockBrokerError
from .downloads import RealBrokerError
from .scene import LacksApiError
from .stories import Recordable

out = Console(emoji=False, highlight=False, soft_wrap=True)
err = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)


def record(stories: Recordable, releases: Sequence[str], names: Sequence[str], folder: Path | None) -> int:
    """The exit status: 0 if all went well, 1 if a story broke off, 2 if brokers could not be fetched or
    started. Stories that share no brokers with such a one are recorded."""
    exit_status = 0
    for release, sharing in product(releases, stories.sharing(names)):
        head = f"{release} {sharing[0]}" + (f" and {len(sharing) - 1} more" if len(sharing) > 1 else "")

        try:
            err.print(escape(f"{head}: starts brokers"))
            with err.status("") as status:
                stories.record(release, sharing, partial(_tell, status, release), folder)
        except LacksApiError as lacking:
            err.print(escape(f"{head}: left out, for brokers lack {lacking}"))
        except (MockBrokerError, OSError, AssertionError, ExceptionGroup) as error:
            exit_status = max(exit_status, 2 if isinstance(error, RealBrokerError) else 1)
            for each in _leaves(error):
                err.print(f"[red]failed[/red] {escape(f'{head}: {each}')}")
    return exit_status


def _tell(status: Status, release: str, what: str, *, passing: bool = False) -> None:
    line = escape(f"{release} {what}")
    if passing:
        status.update(line)
    else:
        out.print(line)


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]
