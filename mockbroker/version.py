"""The versions of mockbroker, and of what it promises to programs that start it."""

from typing import Final

__version__: Final = "1.0.0"
CONTRACT: Final = 1
"""The version of docs/process.md: higher once something there is changed or taken away."""
