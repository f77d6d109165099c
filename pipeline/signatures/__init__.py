"""The searches, one file for each signature: `find(observations) -> findings`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

from . import rewinds

SEARCHES: Final[dict[str, "Callable[[DataFrame], DataFrame]"]] = {
    "offset rewinds": rewinds.find,
}
"""By what the progress says while they run."""
