"""Of mockbroker, for all that tell it."""

from typing import Final

__version__: Final = "0.1.0"
